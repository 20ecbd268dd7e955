package dev.fairway.cli;

import dev.fairway.cli.embedded.EmbeddedKafka;
import dev.fairway.cli.ops.DeadLetter;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.TopicReader.From;
import dev.fairway.cli.ops.why.DeadRequests;
import dev.fairway.cli.ops.why.RequestStory;
import dev.fairway.cli.ops.why.StoryEntry;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.UndecodableRecordException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fairway why}: the story of one request, from the journal. */
@Command(
    name = "why",
    description = {
      "The story of one request from the journal: what it waited for, who was served meanwhile and by"
          + " which rule, and how it ended."
    },
    footer = {"", "Example:", "  fairway why 7f3a-0042 --since 1h"})
final class WhyCommand extends BaseCommand {

  /** Lines of others that were served; the middle of a long list says nothing new. */
  private static final int SERVED_SHOWN_MAX = 20;

  /** Why a record may be put aside that is right. */
  private static final Set<DeadLetterReason> FAULT_ELSEWHERE =
      Set.of(
          DeadLetterReason.REGISTRY_UNAVAILABLE,
          DeadLetterReason.UNKNOWN_SCHEMA,
          DeadLetterReason.ENGINE_FAILED);

  @Mixin private ConnectionOptions connection;

  @Parameters(index = "0", paramLabel = "REQUEST_ID", description = "Request id.")
  private String requestId;

  @Option(
      names = "--agent",
      paramLabel = "AGENT",
      description = "The agent that made it, where several use the same id.")
  private String agent;

  @Option(
      names = "--since",
      paramLabel = "DURATION",
      defaultValue = "24h",
      converter = DurationConverter.class,
      description = "How far back the journal is read (default: ${DEFAULT-VALUE}).")
  private Duration since;

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = CountConverter.class,
      defaultValue = "5000000",
      description = "Most journal records that are read (default: ${DEFAULT-VALUE}).")
  private int limit;

  private long read;
  private long unreadable;

  @Override
  public Integer call() {
    RequestStory story = new RequestStory(requestId, agent);
    List<DeadLetter> dead = List.of();
    try (Pipeline pipeline = connection.open()) {
      tell(pipeline, story);
      if (!story.isFound()) {
        dead = DeadRequests.find(pipeline, requestId, agent);
      }
    }
    if (!dead.isEmpty()) {
      for (DeadLetter letter : dead) {
        say(neverDecided(letter));
        say("  " + advice(letter));
      }
      writeJson(result(dead));
      return 0;
    }
    noteWhatIsMissing();
    if (!story.isFound()) {
      throw new CliException(notFound());
    }
    print(story);
    writeJson(result(story));
    return 0;
  }

  private void tell(Pipeline pipeline, RequestStory story) {
    String topic = pipeline.topics().journal();
    try (AvroDeserializer<AdmissionEvent> deserializer =
        new AvroDeserializer<>(
            pipeline.registry(), AdmissionEvent.class, EmbeddedKafka.MESSAGE_MAX_BYTES)) {
      pipeline
          .reader()
          .read(
              topic,
              new From.Time(System.currentTimeMillis() - since.toMillis()),
              record -> {
                try {
                  AdmissionEvent event = deserializer.deserialize(topic, record.value());
                  if (event == null) {
                    unreadable++;
                  } else {
                    story.accept(event);
                  }
                } catch (UndecodableRecordException e) {
                  unreadable++;
                }
                return ++read < limit;
              });
    }
  }

  private String neverDecided(DeadLetter letter) {
    return "request "
        + requestId
        + " was not decided: dead letter "
        + letter.place()
        + " from "
        + letter.source()
        + ", "
        + letter.reason()
        + (letter.detail() == null ? "" : ": " + letter.detail());
  }

  /** A record is sent again as it is: that helps only where the fault was not its own. */
  private static String advice(DeadLetter letter) {
    if (letter.redriven()) {
      return "it was sent again since, and the journal has no decision yet";
    }
    return FAULT_ELSEWHERE.stream().anyMatch(reason -> reason.name().equals(letter.reason()))
        ? "once the cause is gone, 'fairway dead-letters redrive "
            + letter.place()
            + "' sends it again"
        : "its sender has to correct it; sent again as it is, it would end here again";
  }

  private void print(RequestStory story) {
    long first_ms = story.entries().get(0).atMs();
    say(
        "request "
            + requestId
            + " of "
            + story.agent()
            + ", quota "
            + story.quota()
            + ": "
            + story.outcome());
    List<StoryEntry> shown = new ArrayList<>();
    long servedHidden = 0;
    long served = 0;
    for (StoryEntry entry : story.entries()) {
      if (entry.kind().equals("served_before") && ++served > SERVED_SHOWN_MAX) {
        servedHidden++;
      } else {
        shown.add(entry);
      }
    }
    Table table = new Table("AT", "AFTER", "WHAT");
    for (StoryEntry entry : shown) {
      table.add(
          Instant.ofEpochMilli(entry.atMs()),
          "+%.3f s".formatted((entry.atMs() - first_ms) / 1000.0),
          entry.text());
    }
    table.lines().forEach(this::say);
    if (servedHidden > 0) {
      say("(" + servedHidden + " more of those served meanwhile are left out; --json has them)");
    }
    if (story.entriesDropped() > 0) {
      say("(" + story.entriesDropped() + " later entries are left out, of --json too)");
    }
  }

  private void noteWhatIsMissing() {
    if (unreadable > 0) {
      note(
          "fairway: "
              + unreadable
              + " journal records cannot be read, so that something may be missing here");
    }
    if (read >= limit) {
      note(
          "fairway: stopped after "
              + read
              + " journal records; a larger --limit reads on, a shorter --since begins later");
    }
  }

  private String notFound() {
    return "Expected request '"
        + requestId
        + "'"
        + (agent == null ? "" : " of agent '" + agent + "'")
        + " in the journal of the last "
        + HumanTime.length(since.toMillis())
        + ", but "
        + (read == 0 ? "there are no records" : "none of " + read + " records has it")
        + ", and no dead letter does. Check the id"
        + (agent == null ? "" : " and --agent")
        + ", or look further back with --since.";
  }

  private Map<String, Object> result(List<DeadLetter> dead) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("request", requestId);
    result.put("agent", agent);
    result.put("quota", null);
    result.put("outcome", "dead_letter");
    result.put("served_meanwhile", 0);
    result.put(
        "story",
        dead.stream()
            .map(
                letter -> {
                  Map<String, Object> line = new LinkedHashMap<>();
                  line.put("at_ms", letter.record().timestamp());
                  line.put("kind", "dead_letter");
                  line.put("text", neverDecided(letter));
                  return line;
                })
            .toList());
    return result;
  }

  private Map<String, Object> result(RequestStory story) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("request", requestId);
    result.put("agent", story.agent());
    result.put("quota", story.quota());
    result.put("outcome", story.outcome());
    result.put("served_meanwhile", story.servedMeanwhile());
    result.put(
        "story",
        story.entries().stream()
            .map(
                entry -> {
                  Map<String, Object> line = new LinkedHashMap<>();
                  line.put("at_ms", entry.atMs());
                  line.put("kind", entry.kind());
                  line.put("text", entry.text());
                  return line;
                })
            .toList());
    return result;
  }
}
