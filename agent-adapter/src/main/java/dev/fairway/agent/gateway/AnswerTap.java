package dev.fairway.agent.gateway;

import dev.fairway.agent.provider.BodyReader;
import dev.fairway.agent.provider.ProviderProfile;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ProviderResponse;
import dev.fairway.agent.provider.ProviderStream;
import dev.fairway.agent.provider.ProviderUsage;
import java.nio.ByteBuffer;

/** Reads an answer while it passes. Not thread-safe. */
final class AnswerTap {
  private final ProviderProfile profile;
  private final ProviderResponse head;
  private final ProviderStream stream;
  private final BodyReader body;
  private final StreamedOutput output = new StreamedOutput();
  private byte[] copy = new byte[8 * 1024];

  /**
   * Reads an answer.
   *
   * @param head without a body
   * @param isStream whether the body is a stream of events
   */
  AnswerTap(ProviderProfile profile, ProviderResponse head, boolean isStream) {
    this.profile = profile;
    this.head = head;
    this.stream = isStream ? profile.stream(head) : null;
    this.body = isStream ? null : new BodyReader();
  }

  /** Reads the next bytes, and leaves the buffer's position where it is. */
  void read(ByteBuffer bytes) {
    int length = bytes.remaining();
    if (copy.length < length) {
      copy = new byte[length];
    }
    bytes.duplicate().get(copy, 0, length);
    if (stream != null) {
      stream.read(copy, 0, length);
      output.read(copy, length);
    } else {
      body.read(copy, 0, length);
    }
  }

  boolean isStream() {
    return stream != null;
  }

  /** Whether a stream said that this was all; of another body its length says so. */
  boolean isWhole() {
    return stream == null || stream.saidItsEnd();
  }

  /** Whether a stream has told its input, or content, before which those that tell it do. */
  boolean saidItsBeginning() {
    ProviderUsage told = usageSoFar();
    return (told != null && told.inputTokens() != null)
        || (stream != null && stream.contentBegun());
  }

  /** Whether a stream said nothing but that the call is refused. */
  boolean isRefused() {
    return stream != null && stream.refusal() != null;
  }

  /** What a stream has told of its usage, or null. */
  ProviderUsage usageSoFar() {
    return stream == null ? null : stream.usage();
  }

  /** What the answer said in all, or until it broke off. */
  ProviderReading end() {
    return stream != null
        ? stream.end()
        : profile.read(
            new ProviderResponse(head.status(), head.headers(), body.end(), head.receivedAt()));
  }

  /** The output of a stream that did not come to tell it, counted from what passed. */
  long estimatedOutputTokens(String model) {
    return output.tokens(model);
  }
}
