package dev.fairway.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.it.interop.AgentProgram.Seen;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.DuplicateIgnored;
import dev.fairway.schemas.LeaseCancelled;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.RequestLease;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;

/** What an agent in another language can rely on, over the whole pipeline. */
abstract class AgentProgramContract {

  private static final long FULL = InteropPipeline.DEPTH_TOKENS;

  private final AgentProgram program;
  private final String name;
  private final String strayKey;
  private final InteropPipeline pipeline = InteropPipeline.shared();

  /**
   * Tests of one program.
   *
   * @param name begins its agent ids and keys
   * @param strayKey a key that its wrong partitioner puts into a wrong partition
   */
  AgentProgramContract(AgentProgram program, String name, String strayKey) {
    this.program = program;
    this.name = name;
    this.strayKey = strayKey;
  }

  /** A key of one test, with a quota under it. */
  private String define(String test) {
    String key = name + "-" + test;
    pipeline.define(quotaOf(key));
    return key;
  }

  private static String quotaOf(String key) {
    return key + "/model";
  }

  @Test
  void shouldComeBackForItsPlaceWhenItIsTold() {
    // given: a bucket in debt, for longer than anybody is to wait
    String key = name + "-back";
    pipeline.define(
        quotaOf(key),
        "limits: {input_tokens_per_minute: 60000}, depth: {input_tokens: 1000}, max_queue_wait:"
            + " 500ms, margin: {mode: RATE, start: 1.0, floor: 1.0}");
    AgentProgram.CONFLUENT_PYTHON
        .job(pipeline, name + "-debtor")
        .ask("debt", quotaOf(key), 900)
        .await("debt", DecisionStatus.GRANTED)
        .settle("debt", quotaOf(key), Outcome.SUCCEEDED, 8_000L)
        .run();
    pipeline.events(key, LeaseSettled.class, 1);

    // when
    program.oneCall(pipeline, name + "-caller", quotaOf(key), "r-1");

    // then
    List<LeaseRejected> rejected = pipeline.events(key, LeaseRejected.class, 1);
    assertThat(rejected.get(0).getReason()).isEqualTo(RejectReason.QUEUE_WAIT_TOO_LONG);
    String granted = pipeline.events(key, LeaseGranted.class, 2).get(1).getRequestId();
    assertThat(granted).isNotEqualTo("r-1");
    assertThat(
            pipeline.journal(key, journal -> true).stream()
                .map(AdmissionEvent::getCommand)
                .filter(RequestLease.class::isInstance)
                .map(command -> ((RequestLease) command).getRequest())
                .filter(request -> request.getRequestId().equals(granted)))
        .isNotEmpty()
        .allMatch(
            request ->
                rejected.get(rejected.size() - 1).getRequestId().equals(request.getRetryOf()));
  }

  @Test
  void shouldMakeACallUnderALease() {
    // given
    String key = define("call");
    long before = level(key);

    // when
    JsonNode result = program.oneCall(pipeline, name + "-caller", quotaOf(key), "r-1");

    // then: the journal has the grant and the settlement
    List<LeaseSettled> settled = pipeline.events(key, LeaseSettled.class, 1);
    List<LeaseGranted> granted = pipeline.events(key, LeaseGranted.class, 1);
    assertThat(granted).singleElement().satisfies(e -> assertThat(e.getAttempt()).isEqualTo(1));
    assertThat(granted.get(0).getLeaseId()).isEqualTo(result.get("lease_id").asText());
    assertThat(granted.get(0).getCharged().getInputTokens()).isEqualTo(300);
    assertThat(settled).hasSize(1);
    assertThat(settled.get(0).getLeaseId()).isEqualTo(granted.get(0).getLeaseId());
    assertThat(settled.get(0).getOutcome()).isEqualTo(Outcome.SUCCEEDED);
    assertThat(settled.get(0).getActual().getInputTokens())
        .isEqualTo(result.at("/usage/input_tokens").asLong());

    // and: the balance fell by what was used
    assertThat(before).isEqualTo(FULL);
    assertThat(level(key)).isBetween(FULL - 280, FULL - 1);

    // and: both records were in the right partition at once
    for (String topic : List.of(pipeline.topics().requests(), pipeline.topics().settlements())) {
      assertThat(pipeline.records(topic, key))
          .as(topic)
          .singleElement()
          .satisfies(record -> assertThat(record.partition()).isEqualTo(pipeline.home(key)));
    }
  }

  @Test
  void shouldNotLoseTheFirstDecision() {
    // given: an agent that nobody knows, with an id that no topic name may have
    String key = define("first");
    String agentId = name + ":new";
    String replyTopic = pipeline.topics().reply(agentId);
    assertThat(pipeline.hasTopic(replyTopic)).isFalse();

    // when: it comes twice, the second time to a topic that exists
    Seen first = ask(agentId, key, "r-1");
    Seen second = ask(agentId, key, "r-2");

    // then: each asked once and was answered on its own topic
    assertThat(first.decision().get("decision_id").asText())
        .isNotEqualTo(second.decision().get("decision_id").asText());
    assertThat(requestsIn(pipeline.journal(key, journal -> requestsIn(journal) >= 2))).isEqualTo(2);
    assertThat(pipeline.records(replyTopic, "r-1")).hasSize(1);
    assertThat(pipeline.records(replyTopic, "r-2")).hasSize(1);
  }

  private Seen ask(String agentId, String key, String requestId) {
    return program
        .job(pipeline, agentId)
        .ask(requestId, quotaOf(key), 100)
        .await(requestId, DecisionStatus.GRANTED)
        .run()
        .get(0);
  }

  private static long requestsIn(List<AdmissionEvent> journal) {
    return journal.stream().filter(e -> e.getCommand() instanceof RequestLease).count();
  }

  @Test
  void shouldBeQueuedAndThenGranted() {
    // given
    String key = define("queue");
    String quota = quotaOf(key);

    // when: the second waits for what the first gives back
    List<Seen> seen =
        program
            .job(pipeline, name + "-waiter")
            .ask("r-1", quota, 900)
            .await("r-1", DecisionStatus.GRANTED)
            .ask("r-2", quota, 600)
            .await("r-2", DecisionStatus.QUEUED)
            .settle("r-1", quota, Outcome.NOT_SENT, null)
            .await("r-2", DecisionStatus.GRANTED)
            .settle("r-2", quota, Outcome.SUCCEEDED, 600L)
            .run();

    // then: it was told its place, and a wait of a second for each of the 500 tokens that lacked
    JsonNode queued = seen.get(1).decision().get("queued");
    assertThat(queued.get("position").asInt()).isEqualTo(1);
    assertThat(queued.get("eta_ms").asLong()).isBetween(300_000L, 500_000L);
    assertThat(seen.get(2).decision().at("/granted/charged/input_tokens").asLong()).isEqualTo(600);
    assertThat(seen.get(2).decision().at("/granted/ttl_ms").asLong()).isEqualTo(120_000);

    // and: the journal tells the same
    List<LeaseSettled> settled = pipeline.events(key, LeaseSettled.class, 2);
    assertThat(settled.get(0).getOutcome()).isEqualTo(Outcome.NOT_SENT);
    assertThat(settled.get(0).getAdjusted().getInputTokens()).isEqualTo(900);
    assertThat(settled.get(1).getLeaseId()).isEqualTo(seen.get(2).leaseId());
    assertThat(pipeline.events(key, LeaseQueued.class, 1))
        .singleElement()
        .satisfies(e -> assertThat(e.getRequestId()).isEqualTo("r-2"));
  }

  @Test
  void shouldBeToldWhyItIsRejected() {
    // given
    String key = define("reject");

    // when
    List<Seen> seen =
        program
            .job(pipeline, name + "-rejected")
            .ask("r-1", key + "/unknown", 10)
            .await("r-1", DecisionStatus.REJECTED)
            .ask("r-2", quotaOf(key), FULL + 1)
            .await("r-2", DecisionStatus.REJECTED)
            .run();

    // then
    JsonNode unknown = seen.get(0).decision().get("rejected");
    assertThat(unknown.get("reason").asText()).isEqualTo("UNKNOWN_QUOTA");
    assertThat(unknown.get("detail").asText()).contains(key + "/unknown");
    JsonNode tooLarge = seen.get(1).decision().get("rejected");
    assertThat(tooLarge.get("reason").asText()).isEqualTo("NEVER_FITS");
    assertThat(tooLarge.get("detail").asText()).contains("1000", "1001");
    assertThat(tooLarge.get("retry_at_ms").isNull()).isTrue();
    assertThat(level(key)).isEqualTo(FULL);
  }

  @Test
  void shouldGetTheSameLeaseForTheSameRequest() {
    // given
    String key = define("repeat");
    String quota = quotaOf(key);

    // when: the same content twice, then other content
    List<Seen> seen =
        program
            .job(pipeline, name + "-repeater")
            .ask("r-1", quota, 200)
            .await("r-1", DecisionStatus.GRANTED)
            .ask("r-1", quota, 200)
            .await("r-1", DecisionStatus.GRANTED)
            .ask("r-1", quota, 201)
            .await("r-1", DecisionStatus.REJECTED)
            .run();

    // then
    assertThat(seen.get(0).decision().get("repeated").asBoolean()).isFalse();
    assertThat(seen.get(1).decision().get("repeated").asBoolean()).isTrue();
    assertThat(seen.get(1).leaseId()).isEqualTo(seen.get(0).leaseId()).isNotEmpty();
    assertThat(seen.get(2).decision().at("/rejected/reason").asText()).isEqualTo("INVALID");

    // and: it was charged once
    assertThat(pipeline.events(key, DecisionRepeated.class, 1)).hasSize(1);
    assertThat(pipeline.events(key, LeaseGranted.class, 1)).hasSize(1);
    assertThat(level(key)).isBetween(FULL - 200, FULL - 1);
  }

  @Test
  void shouldGetItsCorrelationBytesBack() {
    // given: bytes that are no text, and four-byte integers as some clients of Spring write them
    String key = define("correlation");
    byte[] field = {0, (byte) 0xff, (byte) 0x80, '{'};
    byte[] header = {0, 0, 1, (byte) 0x80};

    // when
    List<Seen> seen =
        program
            .job(pipeline, name + "-correlated")
            .ask("r-1", quotaOf(key), 10, field, Map.of())
            .await("r-1", DecisionStatus.GRANTED)
            .ask("r-2", quotaOf(key), 10, null, Map.of("kafka_correlationId", header))
            .await("r-2", DecisionStatus.GRANTED)
            .ask("r-3", quotaOf(key), 10)
            .await("r-3", DecisionStatus.GRANTED)
            .run();

    // then: in the field and in Spring's header, whichever way they came
    assertThat(seen.get(0).decision().at("/correlation/hex").asText()).isEqualTo("00ff807b");
    assertThat(seen.get(0).headers().get("kafka_correlationId").asText()).isEqualTo("00ff807b");
    assertThat(seen.get(1).decision().at("/correlation/hex").asText()).isEqualTo("00000180");
    assertThat(seen.get(1).headers().get("kafka_correlationId").asText()).isEqualTo("00000180");
    assertThat(seen.get(2).decision().get("correlation").isNull()).isTrue();
    assertThat(seen.get(2).headers().has("kafka_correlationId")).isFalse();
  }

  @Test
  void shouldSettleOnce() {
    // given
    String key = define("settle");
    String quota = quotaOf(key);

    // when: a call that used less than it said, and a second word about it
    List<Seen> seen =
        program
            .job(pipeline, name + "-settler")
            .ask("r-1", quota, 400)
            .await("r-1", DecisionStatus.GRANTED)
            .settle("r-1", quota, Outcome.SUCCEEDED, 150L)
            .settle("r-1", quota, Outcome.SUCCEEDED, 1L)
            .run();

    // then
    assertThat(pipeline.events(key, DuplicateIgnored.class, 1))
        .singleElement()
        .satisfies(e -> assertThat(e.getLeaseId()).isEqualTo(seen.get(0).leaseId()));
    List<LeaseSettled> settled = pipeline.events(key, LeaseSettled.class, 1);
    assertThat(settled).hasSize(1);
    assertThat(settled.get(0).getAdjusted().getInputTokens()).isEqualTo(250);

    // and: what was not used came back, and nothing else but the refill of a token per second
    JsonNode status = pipeline.status(quota);
    long elapsedS = (status.get("at_ms").asLong() - grantedAtMs(key)) / 1_000;
    assertThat(status.at("/levels/input_tokens").asLong())
        .isBetween(FULL - 150, FULL - 150 + elapsedS + 1);
  }

  private long grantedAtMs(String key) {
    return pipeline.events(key, LeaseGranted.class, 1).get(0).getGrantedAtMs();
  }

  @Test
  void shouldGetAllBackForACallThatWasNotSent() {
    // given
    String key = define("unsent");
    String quota = quotaOf(key);

    // when
    program
        .job(pipeline, name + "-unsent")
        .ask("r-1", quota, 700)
        .await("r-1", DecisionStatus.GRANTED)
        .settle("r-1", quota, Outcome.NOT_SENT, null)
        .run();

    // then
    assertThat(pipeline.events(key, LeaseSettled.class, 1))
        .singleElement()
        .satisfies(e -> assertThat(e.getAdjusted().getInputTokens()).isEqualTo(700));
    assertThat(level(key)).isEqualTo(FULL);
  }

  @Test
  void shouldTakeARequestBack() {
    // given
    String key = define("cancel");
    String quota = quotaOf(key);

    // when: one that waits, and one that was granted before the cancellation came
    List<Seen> seen =
        program
            .job(pipeline, name + "-leaver")
            .ask("r-1", quota, 900)
            .await("r-1", DecisionStatus.GRANTED)
            .ask("r-2", quota, 600)
            .await("r-2", DecisionStatus.QUEUED)
            .cancel("r-2", quota)
            .cancel("r-1", quota)
            .run();

    // then
    assertThat(pipeline.events(key, LeaseSettled.class, 1))
        .singleElement()
        .satisfies(
            e -> {
              assertThat(e.getLeaseId()).isEqualTo(seen.get(0).leaseId());
              assertThat(e.getOutcome()).isEqualTo(Outcome.NOT_SENT);
              assertThat(e.getAdjusted().getInputTokens()).isEqualTo(900);
            });
    assertThat(pipeline.events(key, LeaseCancelled.class, 1))
        .singleElement()
        .satisfies(
            e -> {
              assertThat(e.getRequestId()).isEqualTo("r-2");
              assertThat(e.getWasWaiting()).isTrue();
            });
    assertThat(level(key)).isEqualTo(FULL);
  }

  @Test
  void shouldBeAnsweredAlthoughItsPartitionerIsWrong() {
    // given
    pipeline.define(quotaOf(strayKey));
    String quota = quotaOf(strayKey);

    // when
    List<Seen> seen =
        program
            .job(pipeline, name + "-stray")
            .wrongPartitioner()
            .ask("r-1", quota, 100)
            .await("r-1", DecisionStatus.GRANTED)
            .settle("r-1", quota, Outcome.SUCCEEDED, 80L)
            .run();

    // then
    assertThat(pipeline.events(strayKey, LeaseSettled.class, 1))
        .singleElement()
        .satisfies(e -> assertThat(e.getLeaseId()).isEqualTo(seen.get(0).leaseId()));
    assertForwarded(pipeline.topics().requests());
    assertForwarded(pipeline.topics().settlements());

    // and: only the owner decided
    assertThat(pipeline.records(pipeline.topics().journal(), strayKey))
        .allSatisfy(record -> assertThat(record.partition()).isEqualTo(pipeline.home(strayKey)));
  }

  private void assertForwarded(String topic) {
    int home = pipeline.home(strayKey);
    List<ConsumerRecord<byte[], byte[]>> records = pipeline.records(topic, strayKey);
    assertThat(records).as(topic).hasSize(2);
    ConsumerRecord<byte[], byte[]> stray =
        records.stream().filter(record -> record.partition() != home).findFirst().orElseThrow();
    ConsumerRecord<byte[], byte[]> forwarded =
        records.stream().filter(record -> record.partition() == home).findFirst().orElseThrow();
    assertThat(hops(stray)).isNull();
    assertThat(hops(forwarded)).isEqualTo("1");
    assertThat(forwarded.value()).isEqualTo(stray.value());
  }

  private static String hops(ConsumerRecord<byte[], byte[]> record) {
    Header header = record.headers().lastHeader("fairway.hops");
    return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
  }

  private long level(String key) {
    return pipeline.status(quotaOf(key)).at("/levels/input_tokens").asLong();
  }
}
