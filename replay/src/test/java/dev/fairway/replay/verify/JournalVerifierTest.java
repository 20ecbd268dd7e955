package dev.fairway.replay.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.mapping.Cause;
import dev.fairway.admission.mapping.CommandMapper;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.replay.script.QuotaJson;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.LimitReading;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Signal;
import dev.fairway.schemas.SignalLimits;
import dev.fairway.schemas.TakeSnapshot;
import dev.fairway.schemas.Usage;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaitsFor;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalVerifierTest {
  private static final long START_MS = 1_000;

  @TempDir private Path folder;
  private final AdmissionEngine engine = new AdmissionEngine();
  private final List<AdmissionEvent> journal = new ArrayList<>();
  private long nowMs = START_MS;

  @BeforeEach
  void writeAJournal() throws IOException {
    define("k", 6000);
    define("other", 600);
    for (int i = 0; i < 12; i++) {
      request("k", "r" + i, 300 + i);
      request("other", "r" + i, 20);
      nowMs += 40;
      if (i % 3 == 0) {
        settle("k", "r" + i, Outcome.SUCCEEDED);
      }
      if (i == 7) {
        snapshot("k", 3);
        snapshot("other", 1);
      }
    }
    settle("k", "r1", Outcome.RATE_LIMITED);
    tickUntil(nowMs + 400_000);
    snapshot("k", 2);
  }

  @Test
  void shouldFindNothingInASoundJournal() {
    // when
    VerifyReport report = verify(journal);

    // then
    assertThat(report.firstFindings()).isEmpty();
    assertThat(report.mismatches()).isZero();
    assertThat(report.conserved()).isTrue();
    assertThat(report.ok()).isTrue();
    assertThat(report.keys()).isEqualTo(2);
    assertThat(report.skipped()).isZero();
    assertThat(report.inputs()).isEqualTo(journal.stream().filter(e -> !isSnapshot(e)).count());
    assertThat(report.events())
        .isEqualTo(journal.stream().mapToLong(e -> e.getEvents().size()).sum());
    assertThat(report.events()).isGreaterThan(60);
  }

  @Test
  void shouldVerifyAJournalOfAVersionThatDidNotTellWhatIsWaitedFor() throws IOException {
    // given
    define("q", 6000);
    request("q", "q1", 5_000);
    request("q", "q2", 3_000);
    request("q", "q2", 3_000);
    List<LeaseQueued> told = new ArrayList<>();
    for (AdmissionEvent event : journal) {
      for (Object each : event.getEvents()) {
        Object decision = each instanceof DecisionRepeated again ? again.getDecision() : each;
        if (decision instanceof LeaseQueued queued) {
          told.add(queued);
        }
      }
    }
    assertThat(told).hasSizeGreaterThan(1).allMatch(queued -> queued.getWaitsFor() != null);

    // when
    told.get(told.size() - 1).put("waits_for", new WaitsFor(WaitReason.LIMIT, "q", "requests"));
    VerifyReport wrong = verify(journal);
    told.forEach(queued -> queued.put("waits_for", null));
    VerifyReport old = verify(journal);

    // then
    assertThat(wrong.mismatches()).isEqualTo(1);
    assertThat(old.firstFindings()).isEmpty();
  }

  @Test
  void shouldVerifyAFileThatTextToolsCanAlter() throws IOException {
    // given
    Path file = folder.resolve("journal.jsonl");
    try (Writer out = Files.newBufferedWriter(file)) {
      for (AdmissionEvent event : journal) {
        JournalFile.write(event, out);
      }
    }

    // then
    assertThat(verify(read(file)).ok()).isTrue();

    // and: an input, a time and a charge, each altered by hand
    String text = Files.readString(file);
    assertFound(text.replaceFirst("(\"input_tokens\":\\{\"long\":)304", "$1305"));
    assertFound(text.replaceFirst("\"at_ms\":1040", "\"at_ms\":1041"));
    assertFound(
        text.replaceFirst(
            "(LeaseGranted.{1,400}?\"charged\":.{1,90}?\"tokens\":\\{\"long\":)304", "$1300"));
  }

  private void assertFound(String altered) throws IOException {
    Path file = folder.resolve("altered.jsonl");
    Files.writeString(file, altered);
    VerifyReport report = verify(read(file));
    assertThat(report.ok()).isFalse();
    assertThat(report.mismatches()).isPositive();
    assertThat(report.firstFindings()).isNotEmpty();
  }

  @Test
  void shouldFindEveryAlteredTimeAtWhichSomethingHappened() {
    // The last records before the end are known by the snapshot that stands there.
    for (int i = 0; i < journal.size(); i++) {
      if (!journal.get(i).getEvents().isEmpty() && journal.get(i).getKey().equals("k")) {
        // given
        List<AdmissionEvent> altered = altered(i, e -> at(e, e.getAtMs() + 1));

        // then
        assertThat(verify(altered).ok()).as("record %d of %s", i, journal.get(i)).isFalse();
      }
    }
  }

  @Test
  void shouldFindAChargeThatWasAlteredWithoutTheEngine() {
    // given: the check that shares no code with the engine is on its own
    int grant = indexOf(LeaseGranted.class);
    List<AdmissionEvent> altered = altered(grant, JournalVerifierTest::chargeOneMore);

    // when
    Conservation conservation = new Conservation(10);
    conservation.start("k");
    for (AdmissionEvent event : altered) {
      if (event.getKey().equals("k") && !isSnapshot(event)) {
        conservation.fold(event);
      }
    }

    // then: it is seen when the lease is settled, without any snapshot
    assertThat(conservation.holds()).isFalse();
    assertThat(conservation.findings().get(0)).contains("expected an adjustment of");
  }

  @Test
  void shouldLetAHeaderOfASharedQuotaHoldWhatACallOfAnotherOneUsed() throws IOException {
    // given: two calls that take from one account; the header of one came after both were sent
    define("d", "{\"id\":\"d/org\",\"limits\":{\"input_tokens_per_minute\":600000}}");
    define(
        "d",
        "{\"id\":\"d/x\",\"also\":[\"d/org\"],\"limits\":{\"input_tokens_per_minute\":450000}}");
    request("d", "d/x", "w1", 5_000);
    request("d", "d/org", "w2", 5_000);
    nowMs += 500;
    settle("d", "d/org", "w2", Outcome.SUCCEEDED, header(600_000, 300_000));

    // when: the account's own number holds what the other one really used
    settle("d", "d/x", "w1", Outcome.SUCCEEDED, null);

    // then
    LeaseSettled settled = (LeaseSettled) journal.get(journal.size() - 1).getEvents().get(0);
    assertThat(settled.getShift().getAlso().get("d/org").getInputTokens()).isZero();
    assertThat(settled.getAdjusted().getInputTokens()).isEqualTo(4_800);
    assertThat(verify(journal).firstFindings()).isEmpty();
    assertThat(verify(journal).conserved()).isTrue();
  }

  @Test
  void shouldFindARefundThatIsMissingInASharedQuotaWithoutAHeader() throws IOException {
    // given
    define("d", "{\"id\":\"d/org\",\"limits\":{\"input_tokens_per_minute\":600000}}");
    define(
        "d",
        "{\"id\":\"d/x\",\"also\":[\"d/org\"],\"limits\":{\"input_tokens_per_minute\":450000}}");
    request("d", "d/x", "w1", 5_000);
    nowMs += 500;
    settle("d", "d/x", "w1", Outcome.SUCCEEDED, null);

    // when
    LeaseSettled settled = (LeaseSettled) journal.get(journal.size() - 1).getEvents().get(0);
    settled.getShift().getAlso().get("d/org").put(LedgerRules.INPUT, 0L);
    Conservation conservation = new Conservation(10);
    conservation.start("d");
    journal.stream().filter(e -> e.getKey().equals("d")).forEach(conservation::fold);

    // then
    assertThat(conservation.findings().toString())
        .contains("expected an adjustment of 4800 input_tokens in the quota d/org");
  }

  @Test
  void shouldFindARecordThatIsMissingAndGoOnFromTheNextSnapshot() {
    // given
    int missing = indexOf(LeaseSettled.class);
    List<AdmissionEvent> altered = new ArrayList<>(journal);
    altered.remove(missing);

    // when
    VerifyReport report = verify(altered);

    // then
    assertThat(report.mismatches()).isEqualTo(1);
    assertThat(report.firstFindings().get(0)).contains("records are missing");
  }

  @Test
  void shouldBeginAtTheFirstWholeSnapshot() {
    // given: the journal's head has passed its retention, in the middle of a snapshot
    int secondChunk = indexOfSnapshot(1);
    List<AdmissionEvent> tail = journal.subList(secondChunk, journal.size());
    int firstWhole = indexOfSnapshot(0);
    List<AdmissionEvent> fromSnapshot = journal.subList(firstWhole, journal.size());

    // when
    VerifyReport torn = verify(tail);
    VerifyReport whole = verify(fromSnapshot);

    // then
    assertThat(torn.firstFindings()).isEmpty();
    assertThat(torn.skipped()).isPositive();
    assertThat(whole.firstFindings()).isEmpty();
    assertThat(whole.skipped()).isZero();
    assertThat(whole.inputs()).isGreaterThan(torn.inputs());
  }

  @Test
  void shouldFindAnAlteredSnapshot() {
    // given
    int chunk = indexOfSnapshot(2);
    List<AdmissionEvent> altered =
        altered(
            chunk,
            e -> {
              TakeSnapshot s = (TakeSnapshot) e.getCommand();
              return copy(
                  e,
                  e.getAtMs(),
                  new TakeSnapshot(
                      s.getChunk(), s.getChunks(), s.getRows().subList(1, s.getRows().size())),
                  e.getEvents());
            });

    // when
    VerifyReport report = verify(altered);

    // then
    assertThat(report.ok()).isFalse();
    assertThat(report.firstFindings().toString()).contains("snapshot is without");
  }

  private static VerifyReport verify(List<AdmissionEvent> events) {
    JournalVerifier verifier = new JournalVerifier();
    events.forEach(verifier::accept);
    return verifier.report();
  }

  private static List<AdmissionEvent> read(Path file) throws IOException {
    List<AdmissionEvent> events = new ArrayList<>();
    try (JournalFile in = JournalFile.open(file)) {
      for (AdmissionEvent event = in.next(); event != null; event = in.next()) {
        events.add(event);
      }
    }
    return events;
  }

  private List<AdmissionEvent> altered(int index, UnaryOperator<AdmissionEvent> change) {
    List<AdmissionEvent> altered = new ArrayList<>(journal);
    altered.set(index, change.apply(journal.get(index)));
    return altered;
  }

  private static AdmissionEvent at(AdmissionEvent e, long atMs) {
    return copy(e, atMs, e.getCommand(), e.getEvents());
  }

  private static AdmissionEvent chargeOneMore(AdmissionEvent e) {
    List<Object> events = new ArrayList<>();
    for (Object event : e.getEvents()) {
      if (event instanceof LeaseGranted g) {
        Amounts charged = g.getCharged();
        events.add(
            new LeaseGranted(
                g.getQuota(),
                g.getRequestId(),
                g.getAgentId(),
                g.getLeaseId(),
                g.getAttempt(),
                new Amounts(null, null, null, charged.getTokens() + 1, null),
                g.getColdCache(),
                g.getGrantedAtMs(),
                g.getExpiresAtMs(),
                g.getVirtualTime(),
                g.getCorrelation(),
                g.getOrder(),
                g.getTaken()));
      } else {
        events.add(event);
      }
    }
    return copy(e, e.getAtMs(), e.getCommand(), events);
  }

  private static AdmissionEvent copy(
      AdmissionEvent e, long atMs, Object command, List<Object> events) {
    return new AdmissionEvent(
        e.getKey(),
        e.getSequence(),
        e.getEpoch(),
        atMs,
        e.getEngineVersion(),
        e.getCause(),
        command,
        events);
  }

  private int indexOf(Class<?> event) {
    for (int i = 0; i < journal.size(); i++) {
      if (journal.get(i).getKey().equals("k")
          && journal.get(i).getEvents().stream().anyMatch(event::isInstance)) {
        return i;
      }
    }
    throw new AssertionError("no " + event);
  }

  private int indexOfSnapshot(int chunk) {
    for (int i = 0; i < journal.size(); i++) {
      if (journal.get(i).getCommand() instanceof TakeSnapshot s && s.getChunk() == chunk) {
        return i;
      }
    }
    throw new AssertionError("no snapshot chunk " + chunk);
  }

  private static boolean isSnapshot(AdmissionEvent event) {
    return event.getCommand() instanceof TakeSnapshot;
  }

  private void define(String key, long limit) throws IOException {
    define(
        key,
        "{\"id\":\"%s\",\"limits\":{\"tokens_per_minute\":%d},\"depth\":{\"tokens\":1000}}"
            .formatted(key, limit));
  }

  private void define(String key, String json) throws IOException {
    handle(
        key,
        CommandMapper.toCommand(
            QuotaJson.parse(new ObjectMapper().readTree(json)), "00".repeat(16)));
  }

  private void request(String key, String id, long tokens) {
    request(key, key, id, tokens);
  }

  private void request(String key, String quota, String id, long tokens) {
    LeaseRequest request =
        LeaseRequest.newBuilder()
            .setRequestId(id)
            .setAgentId("a")
            .setQuota(quota)
            .setEstimate(Estimate.newBuilder().setInputTokens(tokens).build())
            .build();
    handle(key, CommandMapper.toCommand(request, nowMs));
  }

  private static Signal header(long limit, long remaining) {
    return Signal.newBuilder()
        .setStatus(200)
        .setAgeMs(1L)
        .setMsSinceSend(100L)
        .setLimits(
            SignalLimits.newBuilder()
                .setInputTokens(new LimitReading(limit, remaining, 1_000L))
                .build())
        .build();
  }

  private void settle(String key, String requestId, Outcome outcome) {
    settle(key, key, requestId, outcome, null);
  }

  private void settle(String key, String quota, String requestId, Outcome outcome, Signal signal) {
    String leaseId =
        engine.openLeases(quota).stream()
            .filter(lease -> lease.request().requestId().equals(requestId))
            .map(Lease::leaseId)
            .findFirst()
            .orElse("none");
    Settlement settlement =
        Settlement.newBuilder()
            .setLeaseId(leaseId)
            .setAgentId("a")
            .setQuota(quota)
            .setOutcome(outcome)
            .setSignal(signal)
            .setUsage(Usage.newBuilder().setInputTokens(200L).setOutputTokens(50L).build())
            .build();
    handle(key, CommandMapper.toCommand(settlement, nowMs));
  }

  private void handle(String key, Command command) {
    tickUntil(nowMs);
    write(engine.handle(key, command, nowMs), command);
  }

  private void tickUntil(long untilMs) {
    while (engine.nextDeadlineMs() <= untilMs) {
      long dueMs = engine.nextDeadlineMs();
      for (String key : engine.keysDue(dueMs)) {
        write(engine.handle(key, new Command.Tick(), dueMs), new Command.Tick());
      }
      nowMs = Math.max(nowMs, dueMs);
    }
    nowMs = Math.max(nowMs, untilMs);
  }

  private void write(Handled handled, Command command) {
    journal.add(JournalMapper.toAvro(handled, command, Cause.TICK));
  }

  private void snapshot(String key, int chunks) {
    List<Row> rows = engine.rows(key);
    Row.KeyRow keyRow = (Row.KeyRow) rows.get(0);
    int size = (rows.size() + chunks - 1) / chunks;
    for (int i = 0; i < chunks; i++) {
      List<Row> part =
          rows.subList(Math.min(rows.size(), i * size), Math.min(rows.size(), (i + 1) * size));
      journal.add(JournalMapper.snapshot(keyRow, i, chunks, part));
    }
  }
}
