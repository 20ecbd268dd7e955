package dev.fairway.it.admission;

import static dev.fairway.it.admission.AdmissionFixture.quota;
import static dev.fairway.it.admission.AdmissionFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.AdmissionMain;
import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.mapping.JournalRecord;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The process is killed while it decides. Whatever it was at: every request gets exactly one
 * decision, no sequence is missing or doubled (the journal's reader checks that), and deciding the
 * journal again gives the same.
 */
class HardStopIT {
  private static final int ROUNDS = 3;
  private static final int REQUESTS_PER_ROUND = 400;
  private static final List<String> KEYS = List.of("key-a", "key-b", "key-c", "key-d", "key-e");

  @TempDir private Path folder;

  @Test
  void shouldDecideEveryRequestExactlyOnceOverKills() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    try (AdmissionFixture fixture = new AdmissionFixture("hard-stop", folder);
        Journal journal = new Journal(fixture)) {
      Map<String, String> settings = fixture.settings();
      Process coordinator = start(settings);
      try {
        // given
        for (String key : KEYS) {
          journal.define(quota(key, 600_000));
        }

        // when: killed somewhere within each round
        int sent = 0;
        for (int round = 0; round < ROUNDS; round++) {
          int killAt = random.nextInt(REQUESTS_PER_ROUND);
          for (int i = 0; i < REQUESTS_PER_ROUND; i++) {
            String key = KEYS.get(sent % KEYS.size());
            fixture.sendLater(fixture.topics.requests(), key, request("r" + sent++, key));
            if (i == killAt) {
              int wanted = journal.events(Event.LeaseGranted.class).size() + 1;
              journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() >= wanted);
              coordinator.destroyForcibly().waitFor();
            }
          }
          coordinator = start(settings);
        }
        int all = sent;
        journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() >= all);
      } finally {
        coordinator.destroyForcibly().waitFor();
      }

      // then
      assertThat(journal.events(Event.LeaseGranted.class))
          .as("seed %d", seed)
          .extracting(Event.LeaseGranted::requestId)
          .doesNotHaveDuplicates()
          .hasSize(ROUNDS * REQUESTS_PER_ROUND);
      assertThat(journal.events(Event.DecisionRepeated.class)).isEmpty();
      assertThat(journal.snapshots).isNotEmpty();
      assertDecidesTheSameAgain(journal);
    }
  }

  /** Also the state that snapshots tell is the one that the commands before them lead to. */
  private static void assertDecidesTheSameAgain(Journal journal) {
    AdmissionEngine engine = new AdmissionEngine();
    Map<String, TreeMap<Long, JournalRecord.Snapshot>> snapshots = new HashMap<>();
    for (JournalRecord.Snapshot snapshot : journal.snapshots) {
      if (snapshot.chunks() == 1) {
        snapshots
            .computeIfAbsent(snapshot.key(), key -> new TreeMap<>())
            .put(snapshot.sequence(), snapshot);
      }
    }
    int compared = 0;
    for (JournalRecord.Decided decided : journal.decided) {
      Handled again = engine.handle(decided.key(), decided.command(), decided.atMs());
      assertThat(again.events()).isEqualTo(decided.events());
      JournalRecord.Snapshot snapshot =
          snapshots.getOrDefault(decided.key(), new TreeMap<>()).get(decided.sequence());
      if (snapshot != null) {
        assertThat(
                new TreeSet<>(engine.rows(decided.key()).stream().map(Object::toString).toList()))
            .isEqualTo(new TreeSet<>(snapshot.rows().stream().map(Object::toString).toList()));
        compared++;
      }
    }
    assertThat(compared).isPositive();
  }

  private Process start(Map<String, String> settings) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            AdmissionMain.class.getName());
    settings.forEach(
        (name, value) ->
            builder
                .environment()
                .put("FAIRWAY_" + name.toUpperCase(Locale.ROOT).replace('.', '_'), value));
    return builder
        .redirectErrorStream(true)
        .redirectOutput(
            ProcessBuilder.Redirect.appendTo(folder.resolve("coordinator.log").toFile()))
        .start();
  }
}
