package dev.fairway.agent.provider;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Reads a stream of server-sent events while it passes, in chunks of any size: what the call used
 * so far, whether content has begun, and whether the provider broke it off with an error. Keeps
 * nothing of the stream but that, and looks at no content. Not thread-safe.
 *
 * <p>Usage in a stream is a total so far, so a later report overwrites an earlier one. Anthropic
 * tells the input at the start, others all of it at the end; the output is told once a report is
 * more than a placeholder.
 */
public final class ProviderStream {
  private final BaseProfile profile;
  private final ProviderResponse head;
  private final ProviderReading opening;
  private final SseReader events = new SseReader(new Handler());
  private ProviderUsage usage;
  private ProviderReading failure;
  private boolean refused;
  private boolean begun;
  private boolean contentBegun;
  private boolean finished;
  private boolean outputEnded;
  private boolean usageFinal;
  private ProviderReading result;

  ProviderStream(BaseProfile profile, ProviderResponse head) {
    this.profile = profile;
    this.head = head;
    this.opening = profile.read(head);
  }

  /**
   * Reads the next bytes; they may be reused afterwards.
   *
   * @throws IllegalStateException after {@link #end()}
   */
  public void read(byte[] bytes, int offset, int length) {
    if (result != null) {
      throw new IllegalStateException("Expected no more bytes after end().");
    }
    events.read(bytes, offset, length);
  }

  /**
   * What the call used, as far as the stream has said, or null if it has not said anything. Becomes
   * non-null at the start of a stream of Anthropic's: the time for an interim settlement.
   */
  public ProviderUsage usage() {
    return usage == null ? null : usage.withExact(true);
  }

  /** Whether an event has come that is no ping. */
  public boolean begun() {
    return begun;
  }

  /** Whether nothing of what was read waits for the rest of its event. */
  public boolean isBetweenEvents() {
    return events.isBetweenEvents();
  }

  /**
   * The error by which the provider refused the call inside of its answer, before the stream told
   * any usage or content; null if there is none so far. Such a call may be sent again.
   */
  public ProviderReading refusal() {
    return refused ? failure : null;
  }

  /** Whether content has begun, after which the call must not be sent again. */
  public boolean contentBegun() {
    return contentBegun;
  }

  /** Whether the provider said that this was all, or that it failed. */
  public boolean finished() {
    return finished;
  }

  /**
   * Whether the stream came to its end, which a break between two events hides: it was told to be
   * finished, or, but for Anthropic's, why its output ended.
   */
  public boolean saidItsEnd() {
    return finished || outputEnded;
  }

  /** What the stream said in all; the same again if called again. */
  public ProviderReading end() {
    if (result == null) {
      events.end();
      ProviderReading reading = failure != null ? failure : opening;
      if (contentBegun) {
        reading = reading.notToBeRetried();
      }
      result = reading.withUsage(usage == null ? null : usage.withExact(usageFinal));
    }
    return result;
  }

  private void accept(String eventName, JsonNode event) {
    String type = event.path("type").asText(eventName);
    ProviderError error =
        failure == null ? ProviderError.of(null, head.headers(), event, "") : null;
    if (error != null) {
      failure = profile.failure(error, head);
      refused = !contentBegun && usage == null;
      finished = true;
    }
    boolean last = endsOutput(type, event);
    finished |= type.equals("message_stop") || isResponseEnd(type);
    outputEnded |= type.equals("message-end") || saysWhyItEnded(event);
    contentBegun |= isContent(type, event);
    ProviderUsage reported = UsageShapes.find(event);
    if (reported != null) {
      // The first event's output is a placeholder; nothing has been produced yet.
      ProviderUsage told = type.equals("message_start") ? reported.withoutOutput() : reported;
      usage = usage == null ? told : usage.overwrittenBy(told);
      usageFinal |= last;
    }
  }

  /** Whether the usage in an event counts all of the output. */
  private static boolean endsOutput(String type, JsonNode event) {
    if (type.equals("message_delta") || type.equals("message-end") || isResponseEnd(type)) {
      return true;
    }
    JsonNode choices = event.path("choices");
    return (choices.isArray() && choices.isEmpty()) || saysWhyItEnded(event);
  }

  private static boolean saysWhyItEnded(JsonNode event) {
    return event.path("choices").path(0).path("finish_reason").isTextual()
        || event.path("candidates").path(0).path("finishReason").isTextual();
  }

  private static boolean isResponseEnd(String type) {
    return type.equals("response.completed")
        || type.equals("response.incomplete")
        || type.equals("response.failed");
  }

  private static boolean isContent(String type, JsonNode event) {
    return isContentDelta(type)
        || event.path("choices").size() > 0
        || event.path("candidates").size() > 0;
  }

  private static boolean isContentDelta(String type) {
    return (type.endsWith("delta") && !type.equals("message_delta"))
        || type.equals("content_block_start");
  }

  private final class Handler implements SseReader.Events {
    @Override
    public boolean wants(String name) {
      // Most events by far are deltas, which say nothing of usage.
      return !isContentDelta(name);
    }

    @Override
    public void skipped(String name) {
      begun = true;
      contentBegun = true;
    }

    @Override
    public void json(String name, JsonTreeReader data) {
      begun |= !name.equals("ping");
      if (data.tree().isObject()) {
        accept(name, data.tree());
      }
    }

    @Override
    public void text(String name, String text) {
      begun |= !name.equals("ping");
      if (text.strip().equals("[DONE]")) {
        finished = true;
        usageFinal = usage != null;
      }
    }
  }
}
