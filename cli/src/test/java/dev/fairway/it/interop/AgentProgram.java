package dev.fairway.it.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.it.Peers;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** The agents in other languages under {@code examples}, as programs to run. */
enum AgentProgram {
  CONFLUENT_PYTHON {
    @Override
    Peers.Result run(String script, List<String> arguments, String input) {
      return Peers.python(
          SOURCES.resolve("python").resolve(script.replace('-', '_') + ".py"),
          arguments,
          input,
          TIMEOUT);
    }
  },

  /** In TypeScript, compiled first. */
  KAFKA_JS {
    @Override
    Peers.Result run(String script, List<String> arguments, String input) {
      return Peers.node(SOURCES.resolve("typescript"), script + ".js", arguments, input, TIMEOUT);
    }
  };

  static final ObjectMapper JSON = new ObjectMapper();

  private static final Path SOURCES = Path.of("../examples");
  static final String SCHEMAS = Path.of("../docs/schemas").toAbsolutePath().toString();
  private static final Duration TIMEOUT = Duration.ofSeconds(120);

  abstract Peers.Result run(String script, List<String> arguments, String input);

  /** Runs the example of one call. */
  JsonNode oneCall(InteropPipeline pipeline, String agentId, String quotaId, String requestId) {
    return read(
        run(
            "one-call",
            List.of(
                pipeline.bootstrap(),
                pipeline.registryUrl(),
                SCHEMAS,
                pipeline.topics().prefix(),
                agentId,
                quotaId,
                requestId),
            ""));
  }

  /** An agent that will do what it is told, step by step. */
  Job job(InteropPipeline pipeline, String agentId) {
    return new Job(pipeline, agentId);
  }

  private static JsonNode read(Peers.Result result) {
    try {
      return JSON.readTree(result.outOrThrow());
    } catch (IOException e) {
      throw new UncheckedIOException(result.toString(), e);
    }
  }

  /** Steps of one run of an agent. */
  final class Job {
    private final ObjectNode json = JSON.createObjectNode();
    private final ArrayNode steps = json.putArray("steps");

    private Job(InteropPipeline pipeline, String agentId) {
      json.put("bootstrap", pipeline.bootstrap());
      json.put("registry", pipeline.registryUrl());
      json.put("schemas", SCHEMAS);
      json.put("prefix", pipeline.topics().prefix());
      json.put("agent_id", agentId);
      json.put("wrong_partitioner", false);
    }

    /** With a partitioner that puts keys where they don't belong. */
    Job wrongPartitioner() {
      json.put("wrong_partitioner", true);
      return this;
    }

    Job ask(String requestId, String quotaId, long inputTokens) {
      return ask(requestId, quotaId, inputTokens, null, Map.of());
    }

    Job ask(
        String requestId,
        String quotaId,
        long inputTokens,
        byte[] correlation,
        Map<String, byte[]> headers) {
      ObjectNode step = steps.addObject();
      ObjectNode request = step.putObject("ask");
      request.put("request_id", requestId).put("quota", quotaId);
      request.putObject("estimate").put("input_tokens", inputTokens);
      if (correlation != null) {
        request.putObject("correlation").put("hex", HexFormat.of().formatHex(correlation));
      }
      ObjectNode hex = step.putObject("headers");
      headers.forEach((name, value) -> hex.put(name, HexFormat.of().formatHex(value)));
      return this;
    }

    /** Waits for a decision, which is then among the result. */
    Job await(String requestId, DecisionStatus status) {
      steps.addObject().put("await", requestId).put("status", status.name());
      return this;
    }

    /**
     * Settles the lease of a request.
     *
     * @param inputTokens null: no usage
     */
    Job settle(String requestId, String quotaId, Outcome outcome, Long inputTokens) {
      ObjectNode step = steps.addObject().put("lease_of", requestId);
      ObjectNode settlement = step.putObject("settle");
      settlement.put("quota", quotaId).put("outcome", outcome.name());
      if (inputTokens != null) {
        settlement.putObject("usage").put("input_tokens", inputTokens).put("output_tokens", 10);
      }
      return this;
    }

    /** Takes a request back, without its lease. */
    Job cancel(String requestId, String quotaId) {
      ObjectNode settlement = steps.addObject().putObject("settle");
      settlement.put("request_id", requestId).put("quota", quotaId);
      settlement.put("outcome", Outcome.CANCELLED.name());
      return this;
    }

    /** Runs the agent to its end; one entry for each decision waited for. */
    List<Seen> run() {
      JsonNode result = read(AgentProgram.this.run("steps", List.of(), json.toString()));
      return Seen.listOf(result);
    }
  }

  /** A decision as the agent read it; bytes are hexadecimal. */
  record Seen(JsonNode decision, JsonNode headers) {

    private static List<Seen> listOf(JsonNode result) {
      return JSON.convertValue(
          result, JSON.getTypeFactory().constructCollectionType(List.class, Seen.class));
    }

    String leaseId() {
      return decision.at("/granted/lease_id").asText();
    }
  }
}
