package dev.fairway.cli;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.provider.LimitReading;
import dev.fairway.agent.provider.ProviderProfile;
import dev.fairway.agent.provider.ProviderProfiles;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ProviderResponse;
import dev.fairway.agent.provider.ProviderStream;
import dev.fairway.agent.provider.ProviderUsage;
import dev.fairway.agent.provider.ResponseBody;
import dev.fairway.agent.provider.ResponseHeaders;
import dev.fairway.schemas.service.FileTrouble;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code fairway explain}: how one answer of a provider, or one stream, is read. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = {
      "Shows how Fairway reads an answer of a provider: what it means, how long to wait, which"
          + " limit was hit, what is left, what the call used. Unknown is null.",
      "In: one JSON object with provider, and of status, headers, body and now what is known;"
          + " several objects give a line each, and one that cannot be read gives none but an"
          + " error with its line. With --stream: such an object on the first line,"
          + " then the server-sent events as they came."
    },
    footer = {
      "",
      "Example:",
      "  fairway explain - <<'END'",
      "  {\"provider\":\"openai\",\"now\":\"2026-08-27T11:10:53Z\",\"status\":429,",
      "   \"headers\":{\"retry-after-ms\":\"1146\",",
      "              \"x-ratelimit-remaining-tokens\":\"0\"},",
      "   \"body\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"type\":\"tokens\"}}}",
      "  END"
    })
public final class ExplainCommand implements Callable<Integer> {
  private static final int FAILURE = 1;
  private static final int FIRST_LINE_MAX = 1 << 20;
  private static final Set<String> FIELDS = Set.of("provider", "now", "status", "headers", "body");

  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Parameters(paramLabel = "FILE|-", description = "The answer; - reads standard input.")
  private String source;

  @Option(
      names = "--stream",
      description = "Read a JSON object on the first line, then server-sent events.")
  private boolean stream;

  @Option(
      names = "--json",
      paramLabel = "FILE|-",
      converter = OutputTargetConverter.class,
      defaultValue = "-",
      description = "Where the result goes; standard output by default.")
  private String target;

  @Spec private CommandSpec spec;

  private final InputStream standardInput;

  /** A command that reads the process's standard input where it is told to. */
  public ExplainCommand() {
    this(System.in);
  }

  ExplainCommand(InputStream standardInput) {
    this.standardInput = standardInput;
  }

  @Override
  public Integer call() {
    StringBuilder result = new StringBuilder();
    int code = explain(result);
    // What was read before, or beside, what could not be read is there all the same.
    return result.isEmpty() || write(result.toString()) ? code : FAILURE;
  }

  private int explain(StringBuilder result) {
    try (InputStream in = input()) {
      return stream ? explainStream(in, result) : explainAll(in, result);
    } catch (NoSuchFileException e) {
      return failed(
          "expected a file that exists, or - for standard input, but there is no " + e.getFile());
    } catch (JsonProcessingException e) {
      return failed(
          "expected JSON such as {\"provider\":\"openai\",\"status\":429,\"headers\":{},"
              + "\"body\":{}}, but: "
              + e.getOriginalMessage()
              + position(e)
              + ". See fairway explain --help for an example.");
    } catch (CliException e) {
      return failed(e.getMessage());
    } catch (IOException e) {
      return failed("expected to read " + source + ", but: " + FileTrouble.of(e));
    }
  }

  private boolean write(String result) {
    if (target.equals("-")) {
      PrintWriter out = spec.commandLine().getOut();
      out.print(result);
      out.flush();
      return true;
    }
    try {
      Files.writeString(Path.of(target), result, StandardCharsets.UTF_8);
      return true;
    } catch (IOException e) {
      failed("expected to write " + target + ", but: " + FileTrouble.of(e));
      return false;
    }
  }

  /** One answer that cannot be read says so and stops none of the others. */
  private int explainAll(InputStream in, StringBuilder result) throws IOException {
    int count = 0;
    int code = 0;
    ObjectReader reader =
        MAPPER.readerFor(JsonNode.class).without(JsonParser.Feature.AUTO_CLOSE_SOURCE);
    try (MappingIterator<JsonNode> answers = reader.readValues(in)) {
      while (answers.hasNextValue()) {
        int line = answers.getParser().currentTokenLocation().getLineNr();
        JsonNode answer = answers.nextValue();
        count++;
        try {
          result.append(json(profile(answer).read(response(answer)))).append('\n');
        } catch (CliException e) {
          code = failed("answer " + count + " (line " + line + "): " + e.getMessage());
        }
      }
    }
    if (count == 0) {
      throw new CliException(
          "expected a JSON object, but found nothing in "
              + source
              + ". See fairway explain --help.");
    }
    return code;
  }

  private int explainStream(InputStream in, StringBuilder result) throws IOException {
    JsonNode first = MAPPER.readTree(firstLine(in));
    if (first == null || first.isMissingNode()) {
      throw new CliException(
          "expected {\"provider\":\"...\"} on the first line, but found nothing in "
              + source
              + ".");
    }
    ProviderStream events = profile(first).stream(response(first));
    byte[] buffer = new byte[8_192];
    int length = in.read(buffer);
    while (length >= 0) {
      events.read(buffer, 0, length);
      length = in.read(buffer);
    }
    result.append(json(events.end())).append('\n');
    return 0;
  }

  private static byte[] firstLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int b = in.read();
    while (b >= 0 && b != '\n') {
      if (line.size() >= FIRST_LINE_MAX) {
        throw new CliException(
            "expected {\"provider\":\"...\"} on the first line, but it is longer than "
                + FIRST_LINE_MAX
                + " bytes. Put the events below it.");
      }
      line.write(b);
      b = in.read();
    }
    return line.toByteArray();
  }

  private ProviderProfile profile(JsonNode answer) {
    JsonNode provider = answer.path("provider");
    if (!provider.isTextual()) {
      throw new CliException(
          "expected an object with a provider ("
              + String.join(", ", ProviderProfiles.names())
              + "), but found "
              + (answer.isObject() ? "provider: " + shown(provider) : shown(answer))
              + ".");
    }
    answer
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!FIELDS.contains(name)) {
                note("nothing reads the field " + name);
              }
            });
    String name = provider.textValue();
    if (!ProviderProfiles.names().contains(name.toLowerCase(Locale.ROOT))) {
      note("no profile is named " + name + "; read as generic");
    }
    return ProviderProfiles.of(name);
  }

  private static ProviderResponse response(JsonNode answer) throws JsonProcessingException {
    JsonNode status = answer.path("status");
    if (!isAbsent(status) && !status.canConvertToInt()) {
      throw new CliException("expected a status such as 429, but found " + shown(status) + ".");
    }
    return new ProviderResponse(
        isAbsent(status) ? null : (Integer) status.intValue(),
        headers(answer.path("headers")),
        body(answer.path("body")),
        now(answer.path("now")));
  }

  private static ResponseHeaders headers(JsonNode headers) {
    if (!isAbsent(headers) && !headers.isObject()) {
      throw new CliException(
          "expected headers as an object, name to value, but found " + shown(headers) + ".");
    }
    ResponseHeaders.Builder builder = ResponseHeaders.builder();
    for (Map.Entry<String, JsonNode> header : headers.properties()) {
      JsonNode value = header.getValue();
      JsonNode one = value.isArray() ? value.path(0) : value;
      if (one.isValueNode() && !one.isNull()) {
        builder.add(header.getKey(), one.asText());
      }
    }
    return builder.build();
  }

  private static ResponseBody body(JsonNode body) throws JsonProcessingException {
    if (isAbsent(body)) {
      return ResponseBody.none();
    }
    // A body that is a text may be the raw bytes of one.
    return ResponseBody.of(body.isTextual() ? body.textValue() : MAPPER.writeValueAsString(body));
  }

  private static Instant now(JsonNode now) {
    if (isAbsent(now)) {
      return null;
    }
    try {
      return OffsetDateTime.parse(now.asText()).toInstant();
    } catch (DateTimeException e) {
      throw new CliException(
          "expected now as a time such as 2026-08-27T11:10:53Z, but found " + shown(now) + ".", e);
    }
  }

  private static String json(ProviderReading reading) throws JsonProcessingException {
    ObjectNode out = MAPPER.createObjectNode();
    out.put("class", reading.kind().name());
    out.put("retry", reading.retry());
    out.put("wait_ms", reading.waitMs());
    out.put("reset_at", reading.resetAt() == null ? null : reading.resetAt().toString());
    out.put("binding", reading.binding() == null ? null : reading.binding().wireName());
    ObjectNode limits = out.putObject("limits");
    reading
        .limits()
        .forEach((dimension, limit) -> put(limits.putObject(dimension.wireName()), limit));
    ProviderUsage usage = reading.usage();
    if (usage == null) {
      out.putNull("usage");
    } else {
      out.putObject("usage")
          .put("input_tokens", usage.inputTokens())
          .put("cache_read_tokens", usage.cacheReadTokens())
          .put("cache_write_tokens", usage.cacheWriteTokens())
          .put("output_tokens", usage.outputTokens())
          .put("exact", usage.exact());
    }
    return MAPPER.writeValueAsString(out);
  }

  private static void put(ObjectNode out, LimitReading limit) {
    out.put("limit", limit.limit());
    out.put("remaining", limit.remaining());
    out.put("reset_ms", limit.resetMs());
  }

  private InputStream input() throws IOException {
    return new BufferedInputStream(
        source.equals("-") ? standardInput : Files.newInputStream(Path.of(source)));
  }

  private static boolean isAbsent(JsonNode node) {
    return node.isMissingNode() || node.isNull();
  }

  private static String shown(JsonNode node) {
    String text = node.isMissingNode() ? "nothing" : node.toString();
    return text.length() <= 120 ? text : text.substring(0, 120) + "...";
  }

  private static String position(JsonProcessingException e) {
    return e.getLocation() == null
        ? ""
        : " (line "
            + e.getLocation().getLineNr()
            + ", column "
            + e.getLocation().getColumnNr()
            + ")";
  }

  private void note(String text) {
    spec.commandLine().getErr().println("fairway: " + text);
    spec.commandLine().getErr().flush();
  }

  private int failed(String message) {
    note(message);
    return FAILURE;
  }
}
