package dev.fairway.admission.topology;

import static dev.fairway.admission.topology.Samples.KEY;
import static dev.fairway.admission.topology.Samples.QUOTA;
import static dev.fairway.admission.topology.Samples.quota;
import static dev.fairway.admission.topology.Samples.request;
import static dev.fairway.admission.topology.Samples.settlement;
import static dev.fairway.admission.topology.Samples.task;
import static dev.fairway.admission.topology.TopologyContext.header;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.mapping.JournalRecord;
import dev.fairway.admission.mapping.JournalRecord.Decided;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Usage;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input becomes a dead letter with its reason, and the next good record is decided. */
class DeadLetterTest {
  private static final long YEAR_2100_MS = 4_102_444_800_000L;

  private final TopologyContext context = new TopologyContext();

  @BeforeEach
  void define() {
    context.quota(quota().build(), QUOTA);
    context.journal();
  }

  @AfterEach
  void shouldStillGrant() {
    context.journal();
    context.send(context.topics.requests(), KEY, request("after").build());
    assertThat(context.events(Event.LeaseGranted.class))
        .extracting(Event.LeaseGranted::requestId)
        .containsExactly("after");
    context.close();
  }

  @Test
  void shouldSayWhereADeadLetterComesFromAndKeepItsBytes() {
    // given
    byte[] value = {1, 2, 3, 4, 5, 6};

    // when
    context.send(
        context.topics.settlements(), KEY, value, new RecordHeaders().add("trace", new byte[] {9}));

    // then
    TestRecord<byte[], byte[]> letter = onlyLetter();
    assertThat(letter.key()).isEqualTo(KEY.getBytes(StandardCharsets.UTF_8));
    assertThat(letter.value()).isEqualTo(value);
    assertThat(header(letter, "fairway.reason")).isEqualTo("MAGIC_BYTE");
    assertThat(header(letter, "fairway.detail")).contains("0x00").contains("0x01");
    assertThat(header(letter, "fairway.topic")).isEqualTo("fairway.settlements");
    assertThat(header(letter, "fairway.partition")).isEqualTo("0");
    assertThat(header(letter, "fairway.offset")).isEqualTo("0");
    assertThat(header(letter, "fairway.at_ms")).isEqualTo(Long.toString(context.nowMs()));
    assertThat(letter.headers().lastHeader("trace").value()).containsExactly(9);
    assertThat(context.journal()).isEmpty();
    assertThat(context.observer.told).contains("dead MAGIC_BYTE");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4, 5, 9, 20})
  void shouldSetTruncatedAvroAside(int length) {
    // given
    byte[] whole = context.bytes(context.topics.requests(), request("r1").build());

    // when
    send(context.topics.requests(), KEY, Arrays.copyOf(whole, length));

    // then
    assertReason(DeadLetterReason.TRUNCATED);
  }

  @Test
  void shouldSetTrailingBytesAside() {
    byte[] whole = context.bytes(context.topics.requests(), request("r1").build());
    send(context.topics.requests(), KEY, Arrays.copyOf(whole, whole.length + 1));
    assertReason(DeadLetterReason.TRAILING_BYTES);
  }

  @Test
  void shouldSetAnUnknownSchemaIdAside() {
    byte[] whole = context.bytes(context.topics.requests(), request("r1").build());
    ByteBuffer.wrap(whole).putInt(1, 9_999);
    send(context.topics.requests(), KEY, whole);
    assertReason(DeadLetterReason.UNKNOWN_SCHEMA);
  }

  @Test
  void shouldSetAnotherTopicsRecordAside() {
    send(
        context.topics.requests(),
        KEY,
        context.bytes(context.topics.settlements(), settlement("l").build()));
    assertReason(DeadLetterReason.INCOMPATIBLE_SCHEMA);
  }

  @Test
  void shouldSetATombstoneAsideWhereAValueIsNeeded() {
    send(context.topics.tasks(), KEY, (byte[]) null);
    assertReason(DeadLetterReason.NO_VALUE);
  }

  @Test
  void shouldCutAnOversizedRecord() {
    // given
    byte[] value = new byte[10_000_000];

    // when
    send(context.topics.requests(), KEY, value);

    // then
    TestRecord<byte[], byte[]> letter = onlyLetter();
    assertThat(header(letter, "fairway.reason")).isEqualTo("TOO_LARGE");
    assertThat(header(letter, "fairway.truncated_from")).isEqualTo("10000000");
    assertThat(letter.value()).hasSize(65_536);
  }

  @Test
  void shouldCutAnOversizedKeyAndDropOversizedHeaders() {
    // given
    String key = "k".repeat(100_000);
    RecordHeaders headers = new RecordHeaders();
    headers.add("small", new byte[10]);
    headers.add("large", new byte[100_000]);

    // when
    context.send(context.topics.requests(), key, new byte[] {7}, headers);

    // then
    TestRecord<byte[], byte[]> letter = onlyLetter();
    assertThat(letter.key()).hasSize(1_024);
    assertThat(header(letter, "fairway.key_truncated_from")).isEqualTo("100000");
    assertThat(header(letter, "fairway.headers_dropped")).isEqualTo("1");
    assertThat(letter.headers().lastHeader("small").value()).hasSize(10);
  }

  @Test
  void shouldNotBelieveTheReasonOfAnEarlierDeadLetter() {
    // given
    RecordHeaders headers = new RecordHeaders();
    headers.add("fairway.reason", "INVENTED".getBytes(StandardCharsets.UTF_8));

    // when
    context.send(context.topics.requests(), KEY, new byte[] {7}, headers);

    // then
    assertThat(onlyLetter().headers().headers("fairway.reason")).hasSize(1);
  }

  @Test
  void shouldSetARequestWithoutKeyAsideAndTellItsAgent() {
    // when: it goes to the owner of its quota's key first, who alone may speak for the quota
    context.send(context.topics.requests(), null, request("r1").build());

    // then
    TestRecord<byte[], byte[]> letter = onlyLetter();
    assertThat(header(letter, "fairway.reason")).isEqualTo("KEY_MISMATCH");
    assertThat(header(letter, "fairway.detail"))
        .isEqualTo("Expected record key 'k' but found none");
    assertThat(letter.key()).isNull();
    assertThat(header(letter, "fairway.offset")).isEqualTo("0");
    assertToldInvalid("k", "Expected record key 'k' but found none");
  }

  @Test
  void shouldSetARequestUnderTheWrongKeyAsideAndTellItsAgent() {
    context.send(context.topics.requests(), "other", request("r1").build());
    String detail = "Expected record key 'k', the key of quota 'k/sonnet', but found 'other'";
    TestRecord<byte[], byte[]> letter = onlyLetter();
    assertThat(header(letter, "fairway.reason")).isEqualTo("KEY_MISMATCH");
    assertThat(header(letter, "fairway.detail")).isEqualTo(detail);
    assertToldInvalid("other", detail);
  }

  @Test
  void shouldOnlySetARequestAsideThatHasNeitherKeyNorAgent() {
    context.send(context.topics.requests(), null, request("r1").setAgentId("").build());
    context.send(context.topics.requests(), "", request("r1").setQuota("a/b/c").build());
    assertThat(context.deadLetters()).hasSize(2);
    assertThat(context.journal()).isEmpty();
  }

  @Test
  void shouldSetAnEmptyKeyAside() {
    context.send(context.topics.settlements(), "", settlement("l").build());
    assertReason(DeadLetterReason.KEY_MISMATCH);
  }

  @Test
  void shouldSetAQuotaUnderAnotherIdAside() {
    context.send(context.topics.quotas(), "k/opus", quota().build());
    assertReason(DeadLetterReason.KEY_MISMATCH);
  }

  @Test
  void shouldSetATombstoneOfNoQuotaIdAside() {
    send(context.topics.quotas(), "k/a/b", (byte[]) null);
    assertReason(DeadLetterReason.KEY_MISMATCH);
  }

  @Test
  void shouldTakeTheRecordKeyOfATaskWithoutQuota() {
    context.send(context.topics.tasks(), KEY, task("t1").build());
    assertThat(context.journal()).hasSize(1);
    context.send(context.topics.tasks(), KEY, task("t1").setQuota("other/q").build());
    assertReason(DeadLetterReason.KEY_MISMATCH);
  }

  @Test
  void shouldRejectAndSetNegativeTokensAside() {
    assertRejectedAndDead(
        request("r1").setEstimate(Estimate.newBuilder().setInputTokens(-1L).build()).build());
  }

  @Test
  void shouldRejectAndSetAbsurdTokensAside() {
    assertRejectedAndDead(
        request("r1")
            .setEstimate(Estimate.newBuilder().setMaxOutputTokens(1L << 62).build())
            .build());
  }

  @Test
  void shouldRejectAndSetATimeBeforeTheEpochAside() {
    assertRejectedAndDead(request("r1").setDeadlineMs(-1L).build());
  }

  @Test
  void shouldRejectAndSetATimeFarAheadAside() {
    assertRejectedAndDead(request("r1").setDeadlineMs(YEAR_2100_MS).build());
  }

  @Test
  void shouldRejectAndSetOtherContentUnderAUsedIdAside() {
    // given
    context.send(context.topics.requests(), KEY, request("r1").build());
    context.journal();

    // when, then
    assertRejectedAndDead(request("r1").setRole("planner").build());
  }

  @Test
  void shouldNotSetTheSameRequestAgainAside() {
    context.send(context.topics.requests(), KEY, request("r1").build());
    context.send(context.topics.requests(), KEY, request("r1").build());
    assertThat(context.events(Event.DecisionRepeated.class)).hasSize(1);
    assertThat(context.deadLetters()).isEmpty();
  }

  @Test
  void shouldRejectAndSetARequestWithABadIdAside() {
    for (String id : List.of("", "a/b", "x".repeat(65))) {
      assertRejectedAndDead(request(id).build());
    }
    assertRejectedAndDead(request("r1").setQuota("k/a/b").build());
    context.send(context.topics.requests(), KEY, request("r1").setQuota("").build());
    assertToldInvalid(
        KEY, "Expected a quota id 'key' or 'key/name' from A-Z a-z 0-9 . _ -, but found ''");
    assertReason(DeadLetterReason.KEY_MISMATCH);
  }

  @Test
  void shouldSetARequestOfNobodyWhoCanBeToldAside() {
    for (String agent : List.of("", "a/b", "x".repeat(101))) {
      context.send(context.topics.requests(), KEY, request("r1").setAgentId(agent).build());
      assertReason(DeadLetterReason.INVALID);
    }
    assertThat(context.journal()).isEmpty();
  }

  @Test
  void shouldSetABadDefinitionAside() {
    assertDead(
        context.topics.quotas(),
        QUOTA,
        quota().setLimits(Limits.newBuilder().setRequestsPerMinute(0L).build()).build());
    assertDead(
        context.topics.quotas(), QUOTA, quota().setLimits(Limits.newBuilder().build()).build());
    assertDead(
        context.topics.quotas(),
        QUOTA,
        quota().setDepth(Amounts.newBuilder().setRequests(-5L).build()).build());
    assertThat(context.journal()).isEmpty();
  }

  @Test
  void shouldSetABadSettlementAside() {
    assertDead(context.topics.settlements(), KEY, settlement("l").setAgentId("").build());
    assertDead(
        context.topics.settlements(),
        KEY,
        settlement("l").setUsage(Usage.newBuilder().setInputTokens(-7L).build()).build());
    assertDead(
        context.topics.settlements(),
        KEY,
        settlement("l").setLeaseId(null).setOutcome(Outcome.CANCELLED).build());
  }

  @Test
  void shouldSetABadTaskAside() {
    assertDead(context.topics.tasks(), KEY, task("").build());
    assertDead(context.topics.tasks(), KEY, task("a/b").build());
  }

  @Test
  void shouldReadWhatAnOlderSchemaWrote() {
    // given: the ids of another registry mean other schemas, so the context's own is asked
    assertThat(context.registry).isInstanceOf(InMemorySchemaRegistry.class);
    String older =
        "{\"type\":\"record\",\"name\":\"TaskUpdate\",\"namespace\":\"dev.fairway.schemas\",\"fields\":["
            + "{\"name\":\"task_id\",\"type\":\"string\"},"
            + "{\"name\":\"state\",\"type\":{\"type\":\"enum\",\"name\":\"TaskState\",\"symbols\":[\"STARTED\"]}}]}";
    int id =
        context.registry.register(
            "fairway.tasks-value", new org.apache.avro.Schema.Parser().parse(older));
    byte[] value =
        ByteBuffer.allocate(9)
            .put((byte) 0)
            .putInt(id)
            .put((byte) 4)
            .put((byte) 't')
            .put((byte) '1')
            .put((byte) 0)
            .array();

    // when
    send(context.topics.tasks(), KEY, value);

    // then
    assertThat(context.deadLetters()).isEmpty();
    assertThat(context.journal()).hasSize(1);
  }

  private void assertToldInvalid(String key, String detail) {
    List<JournalRecord> journal = context.journal();
    assertThat(journal).hasSize(1);
    Decided decided = (Decided) journal.get(0);
    assertThat(decided.key()).isEqualTo(key);
    Event.LeaseRejected told = (Event.LeaseRejected) decided.events().get(0);
    assertThat(told.reason()).isEqualTo(RejectReason.INVALID);
    assertThat(told.detail()).isEqualTo(detail);
    assertThat(told.agentId()).isEqualTo("agent-1");
  }

  private void assertRejectedAndDead(SpecificRecord request) {
    context.send(context.topics.requests(), KEY, request);
    Event.LeaseRejected rejected =
        context.events(Event.LeaseRejected.class).stream().findFirst().orElseThrow();
    assertThat(rejected.reason()).isEqualTo(RejectReason.INVALID);
    TestRecord<byte[], byte[]> letter = onlyLetter();
    assertThat(header(letter, "fairway.reason")).isEqualTo("INVALID");
    assertThat(header(letter, "fairway.detail")).isEqualTo(rejected.detail());
  }

  private void assertDead(String topic, String key, SpecificRecord value) {
    context.send(topic, key, value);
    assertReason(DeadLetterReason.INVALID);
  }

  private void assertReason(DeadLetterReason reason) {
    assertThat(header(onlyLetter(), "fairway.reason")).isEqualTo(reason.name());
  }

  private TestRecord<byte[], byte[]> onlyLetter() {
    List<TestRecord<byte[], byte[]>> letters = context.deadLetters();
    assertThat(letters).hasSize(1);
    return letters.get(0);
  }

  private void send(String topic, String key, byte[] value) {
    context.send(topic, key, value, new RecordHeaders());
  }
}
