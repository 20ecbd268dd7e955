package dev.fairway.it.admission;

import static dev.fairway.it.admission.AdmissionFixture.get;
import static dev.fairway.it.admission.AdmissionFixture.quota;
import static dev.fairway.it.admission.AdmissionFixture.request;
import static dev.fairway.it.admission.AdmissionFixture.settlement;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.admission.AdmissionService;
import dev.fairway.admission.engine.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The coordinator over a real broker: decisions, what it says of itself, restarts, two instances.
 */
class AdmissionRoundTripIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;
  private AdmissionFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new AdmissionFixture("round-trip", folder);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldGrantAndSettle() throws Exception {
    try (AdmissionService service = fixture.startCoordinator();
        Journal journal = new Journal(fixture)) {
      // given
      journal.define(quota("k/q", 6_000));
      fixture.send(fixture.topics.requests(), "k", request("r1", "k/q"));
      journal.readUntil(j -> !j.events(Event.LeaseGranted.class).isEmpty());

      // when
      String lease = journal.grantOf("r1").leaseId();
      fixture.send(fixture.topics.settlements(), "k", settlement(lease, "k/q"));
      journal.readUntil(j -> !j.events(Event.LeaseSettled.class).isEmpty());

      // then
      assertThat(journal.events(Event.LeaseSettled.class))
          .singleElement()
          .satisfies(settled -> assertThat(settled.leaseId()).isEqualTo(lease));
    }
  }

  @Test
  void shouldCommitADecisionWithoutWaitingForTheCommitInterval() throws Exception {
    // given: an interval just below the transaction timeout
    Map<String, String> settings = fixture.settings();
    settings.put("kafka.commit.interval.ms", "9000");
    try (AdmissionService service = fixture.startCoordinator(settings);
        Journal journal = new Journal(fixture)) {
      journal.define(quota("k/q", 600_000));

      // when: each waits for the one before
      long start = System.nanoTime();
      for (int i = 1; i <= 20; i++) {
        int wanted = i;
        fixture.send(fixture.topics.requests(), "k", request("r" + i, "k/q"));
        journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == wanted);
      }

      // then
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(9));
    }
  }

  @Test
  void shouldCommitABatchAtOnceAndNotEachRecord() throws Exception {
    try (Journal journal = new Journal(fixture)) {
      // given: a backlog
      try (AdmissionService service = fixture.startCoordinator()) {
        journal.define(quota("k/q", 6_000_000));
      }
      for (int i = 0; i < 3_000; i++) {
        fixture.sendLater(fixture.topics.requests(), "k", request("r" + i, "k/q"));
      }
      fixture.flush();

      // when
      try (AdmissionService service = fixture.startCoordinator()) {
        journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == 3_000);

        // then
        double commits =
            get(service, "/metrics")
                .lines()
                .filter(line -> line.startsWith("kafka_stream_thread_commit_total"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
        assertThat(commits).isBetween(1.0, 300.0);
      }
    }
  }

  @Test
  void shouldGrantAQueuedRequestAtItsTime() throws Exception {
    try (AdmissionService service = fixture.startCoordinator();
        Journal journal = new Journal(fixture)) {
      // given: 59 at once, then one a second
      journal.define(quota("k/q", 60));
      for (int i = 0; i < 61; i++) {
        fixture.sendLater(fixture.topics.requests(), "k", request("r" + i, "k/q"));
      }

      // when
      journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == 61);

      // then: on its deadline, not on the next poll
      List<Event.LeaseGranted> grants = journal.events(Event.LeaseGranted.class);
      long between = grants.get(60).grantedAtMs() - grants.get(59).grantedAtMs();
      assertThat(between).isBetween(950L, 1_090L);
    }
  }

  @Test
  void shouldTellWhatHoldsNow() throws Exception {
    try (AdmissionService service = fixture.startCoordinator();
        Journal journal = new Journal(fixture)) {
      // given
      journal.define(quota("k/q", 60));
      journal.define(quota("other", 60));
      for (int i = 0; i < 90; i++) {
        fixture.sendLater(fixture.topics.requests(), "k", request("r" + i, "k/q"));
      }
      journal.readUntil(j -> j.events(Event.LeaseQueued.class).size() >= 2);

      // when
      JsonNode status = JSON.readTree(get(service, "/status"));
      JsonNode leases = JSON.readTree(get(service, "/leases?quota=k/q&limit=5"));
      JsonNode queue = JSON.readTree(get(service, "/queue?quota=k/q"));
      JsonNode health = JSON.readTree(get(service, "/health"));
      String metrics = get(service, "/metrics");

      // then
      assertThat(status.path("ready").asBoolean()).isTrue();
      assertThat(status.path("engine_version").asText()).isEqualTo("1");
      assertThat(status.path("quotas")).hasSize(2);
      JsonNode quota = status.path("quotas").get(0);
      assertThat(quota.path("id").asText()).isEqualTo("k/q");
      assertThat(quota.path("levels").path("requests").isNumber()).isTrue();
      assertThat(quota.path("margin").asDouble()).isEqualTo(1.0);
      assertThat(quota.path("margin_mode").asText()).isEqualTo("RATE");
      assertThat(quota.path("open_leases").asInt()).isGreaterThanOrEqualTo(59);
      assertThat(quota.has("hold_reason")).isTrue();
      assertThat(leases.path("leases")).hasSize(5);
      assertThat(queue.path("queue").get(0).path("position").asInt()).isEqualTo(1);
      assertThat(health.path("status").asText()).isEqualTo("UP");
      assertThat(health.path("partitions")).hasSize(4);
      assertThat(metrics)
          .contains("fairway_decisions_total{quota=\"k/q\",type=\"granted\"}")
          .contains("fairway_balance{dimension=\"requests\",quota=\"k/q\"}")
          .contains("fairway_waiting{quota=\"k/q\"}")
          .contains("fairway_wait_seconds_bucket{quota=\"k/q\"")
          .contains("kafka_stream_thread_process_rate");
      assertThat(get(service, "/leases?limit=none")).contains("Expected limit from 1 to 10000");
      assertThat(get(service, "/nothing")).contains("/status");
    }
  }

  @Test
  void shouldKeepItsStateOverARestart() throws Exception {
    try (Journal journal = new Journal(fixture)) {
      // given
      try (AdmissionService service = fixture.startCoordinator()) {
        journal.define(quota("k/q", 6_000));
        fixture.send(fixture.topics.requests(), "k", request("r1", "k/q"));
        journal.readUntil(j -> !j.events(Event.LeaseGranted.class).isEmpty());
      }

      // when
      String lease = journal.grantOf("r1").leaseId();
      try (AdmissionService service = fixture.startCoordinator()) {
        fixture.send(fixture.topics.settlements(), "k", settlement(lease, "k/q"));
        fixture.send(fixture.topics.requests(), "k", request("r1", "k/q"));
        journal.readUntil(
            j ->
                !j.events(Event.LeaseSettled.class).isEmpty()
                    && !(j.events(Event.DecisionRepeated.class).isEmpty()
                        && j.events(Event.LeaseRejected.class).isEmpty()));

        // then: the lease was known, and the snapshot of the restart stands before
        assertThat(journal.events(Event.LeaseSettled.class)).hasSize(1);
        assertThat(journal.snapshots).isNotEmpty();
      }
    }
  }

  @Test
  void shouldShareThePartitionsAndTakeThemOver() throws Exception {
    try (AdmissionService first = fixture.startCoordinator();
        Journal journal = new Journal(fixture)) {
      // given
      for (int i = 0; i < 8; i++) {
        journal.define(quota("key-" + i, 6_000));
        fixture.send(fixture.topics.requests(), "key-" + i, request("a" + i, "key-" + i));
      }
      journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == 8);

      // when
      AdmissionService second = fixture.startCoordinator();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> partitions(first) == 2 && partitions(second) == 2);
      for (int i = 0; i < 8; i++) {
        fixture.send(fixture.topics.requests(), "key-" + i, request("b" + i, "key-" + i));
      }
      journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == 16);
      second.close();
      long closedAt = System.nanoTime();
      for (int i = 0; i < 8; i++) {
        fixture.send(fixture.topics.requests(), "key-" + i, request("c" + i, "key-" + i));
      }
      journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == 24);

      // then: who leaves says so, so nobody waits for its session to end
      assertThat(Duration.ofNanos(System.nanoTime() - closedAt)).isLessThan(Duration.ofSeconds(5));
      assertThat(partitions(first)).isEqualTo(4);
    }
  }

  private static int partitions(AdmissionService service) throws Exception {
    return JSON.readTree(get(service, "/health")).path("partitions").size();
  }
}
