package dev.fairway.replay.script;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.QuotaSnapshot;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A script written by a test, and the lines that running it prints. */
final class Script {
  static final ObjectMapper JSON = new ObjectMapper();

  private final StringBuilder text = new StringBuilder();
  private Optional<String> stopped = Optional.empty();

  /** Appends a line; {@code '} stands for {@code "}. */
  Script line(String json) {
    text.append(json.replace('\'', '"')).append('\n');
    return this;
  }

  Script line(long atMs, String action, ObjectNode body) {
    ObjectNode line = JSON.createObjectNode().put("at_ms", atMs);
    line.set(action, body);
    text.append(line).append('\n');
    return this;
  }

  /** A request for tokens by an agent of its own. */
  Script request(long atMs, String id, long tokens) {
    ObjectNode body = JSON.createObjectNode();
    body.put("id", id).put("quota", "q").put("agent", "agent-of-" + id).put("input_tokens", tokens);
    return line(atMs, "request", body);
  }

  Script show(long atMs) {
    return line("{'at_ms':" + atMs + ",'show':'q'}");
  }

  /** The lines printed, in order. */
  List<JsonNode> run() {
    StringWriter out = new StringWriter();
    try (EventLines lines = new EventLines(out)) {
      ScriptReader reader = new ScriptReader(new StringReader(text.toString()));
      ScriptRunner runner = new ScriptRunner(reader, new Printer(lines));
      boolean more = true;
      while (more) {
        more = runner.step();
      }
      stopped = runner.finish();
      lines.flush();
      List<JsonNode> printed = new ArrayList<>();
      for (String line : out.toString().lines().toList()) {
        printed.add(JSON.readTree(line));
      }
      return printed;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Why the run ended early, if it did. */
  Optional<String> stopped() {
    return stopped;
  }

  /** The lines of one kind of event. */
  static List<JsonNode> events(List<JsonNode> printed, String event) {
    return printed.stream().filter(line -> event.equals(line.path("event").asText())).toList();
  }

  /** The states shown. */
  static List<JsonNode> states(List<JsonNode> printed) {
    return printed.stream().filter(line -> line.has("state")).map(l -> l.get("state")).toList();
  }

  /** The first decision about a request: its event and all it says. */
  static JsonNode decision(List<JsonNode> printed, String request) {
    return printed.stream()
        .filter(line -> request.equals(line.path("request").asText()))
        .filter(
            line -> line.get("event").asText().matches("LeaseGranted|LeaseQueued|LeaseRejected"))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no decision about " + request + " in " + printed));
  }

  private record Printer(EventLines lines) implements ScriptRunner.Output {
    @Override
    public void handled(Handled handled) throws IOException {
      for (Event event : handled.events()) {
        lines.event(handled.atMs(), event);
      }
    }

    @Override
    public void shown(long atMs, QuotaSnapshot snapshot) throws IOException {
      lines.show(atMs, snapshot);
    }
  }
}
