package dev.fairway.cli.ops.why;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.BreakerCause;
import dev.fairway.schemas.BreakerClosed;
import dev.fairway.schemas.BreakerHalfOpen;
import dev.fairway.schemas.BreakerOpened;
import dev.fairway.schemas.BucketsResynced;
import dev.fairway.schemas.Cause;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.DimensionResync;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.EtaRevised;
import dev.fairway.schemas.HoldReason;
import dev.fairway.schemas.LeaseEnqueued;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.MarginCut;
import dev.fairway.schemas.QuotaDefined;
import dev.fairway.schemas.QuotaHeld;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.RampStarted;
import dev.fairway.schemas.RefuseRequest;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.Tick;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaiterRow;
import dev.fairway.schemas.WaitsFor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RequestStoryTest {

  private static final String QUOTA = "k/q";

  private final RequestStory story = new RequestStory("r", null);
  private long sequence;

  @Test
  void shouldTellWhoWasServedMeanwhileAndByWhichRule() {
    // given
    request(0, "first", "a1", enqueued("first", "a1", 1, 1_000, 100));
    request(10, "r", "a2", enqueued("r", "a2", 2, 1_000, 5_000), queued("r", "a2", 2, 30_000));
    request(20, "heavy", "a3", enqueued("heavy", "a3", 3, 3_000, 900));
    request(30, "behind", "a4", enqueued("behind", "a4", 4, 1_000, 9_000));

    // when
    tick(1_000, granted("first", "a1"), granted("heavy", "a3"), granted("behind", "a4"));
    tick(2_000, granted("r", "a2"));

    // then
    assertThat(story.isFound()).isTrue();
    assertThat(story.outcome()).isEqualTo("granted");
    assertThat(story.servedMeanwhile()).isEqualTo(3);
    assertThat(texts("enqueued"))
        .singleElement()
        .asString()
        .contains("weight 1.000")
        .contains("1 ahead");
    assertThat(texts("queued"))
        .singleElement()
        .asString()
        .contains("position 2")
        .contains("30.0 s");
    assertThat(texts("served_before"))
        .satisfiesExactly(
            text -> assertThat(text).startsWith("first of a1").contains("came first"),
            text ->
                assertThat(text)
                    .startsWith("heavy of a3")
                    .contains("weight 3.000")
                    .contains("against weight 1.000"),
            text ->
                assertThat(text)
                    .startsWith("behind of a4")
                    .contains("fitted where this request did not"));
    assertThat(texts("granted"))
        .singleElement()
        .asString()
        .contains("after 2.0 s")
        .contains("3 others");
  }

  @Test
  void shouldSayWhyACallCountsAsMoreThanItAskedFor() {
    // given
    LeaseEnqueued corrected = enqueued("r", "a", 1, 1_000, 1, 195);

    // when
    request(20, "r", "a", corrected);

    // then
    assertThat(texts("enqueued"))
        .singleElement()
        .asString()
        .endsWith(
            "; its input counts as 195 tokens, since calls of role worker use more than they"
                + " estimate");
  }

  @Test
  void shouldSayNothingOfACallThatCountsAsWhatItAskedFor() {
    request(20, "r", "a", enqueued("r", "a", 1, 1_000, 1, 100));

    assertThat(texts("enqueued")).singleElement().asString().endsWith("; nobody ahead");
  }

  @Test
  void shouldTellWhatHeldTheQuotaWhileItWaitedAndNotBeforeOrAfter() {
    tick(1, new MarginCut(QUOTA, 9000, 8500));
    request(10, "r", "a", enqueued("r", "a", 1, 1_000, 1));
    tick(
        20,
        new MarginCut(QUOTA, 8500, 8000),
        new QuotaHeld(QUOTA, HoldReason.RATE_LIMITED, 5_020L));
    tick(30, new MarginCut("k/other", 8500, 8000));
    tick(5_020, granted("r", "a"));
    tick(6_000, new MarginCut(QUOTA, 8000, 7500));

    assertThat(texts("margin_cut"))
        .containsExactly("a 429 cut the margin from 85.0 % to 80.0 % of the limit");
    assertThat(texts("held")).containsExactly("the quota grants nothing for 5.0 s: RATE_LIMITED");
  }

  @Test
  void shouldTellOfTheBreakerAndTheRampThatItWaitedFor() {
    request(10, "r", "a", enqueued("r", "a", 1, 1_000, 1));
    tick(
        20,
        new BreakerOpened(QUOTA, BreakerCause.REFUSALS, 0, 1_020L),
        new BreakerOpened("k/other", BreakerCause.REFUSALS, 0, 1_020L));
    tick(1_020, new BreakerHalfOpen(QUOTA, "lease-p", 16_020L));
    tick(16_020, new BreakerOpened(QUOTA, BreakerCause.PROBE_SILENT, 0, 16_020L));
    tick(16_500, new BreakerClosed(QUOTA, null, 16_500L));
    tick(17_000, new BreakerClosed(QUOTA, "lease-p", null), new RampStarted(QUOTA, 17_000L));

    assertThat(texts("breaker_opened"))
        .containsExactly(
            "two 429s in a row opened the breaker; nothing is granted, and one probe goes in 1.0 s",
            "the breaker's probe was not answered in time; nothing is granted, and one probe goes"
                + " now");
    assertThat(texts("breaker_half_open")).hasSize(1);
    assertThat(texts("breaker_closed"))
        .containsExactly(
            "too many probes told nothing: grants trickle until the first answer",
            "the provider took a probe, and the breaker closed");
    assertThat(texts("ramp_started"))
        .containsExactly(
            "grants are paced from now on: at half the rate, rising to the rate within a minute");
  }

  @Test
  void shouldTellWhyARequestWasRejectedAndWhenToComeBack() {
    request(
        10,
        "r",
        "a",
        new LeaseRejected(
            QUOTA,
            "r",
            "a",
            RejectReason.QUEUE_WAIT_TOO_LONG,
            "Expected a wait of at most 60 s",
            90_010L,
            null,
            null,
            null,
            1,
            null,
            null));

    assertThat(story.outcome()).isEqualTo("rejected");
    assertThat(texts("rejected"))
        .singleElement()
        .asString()
        .contains("QUEUE_WAIT_TOO_LONG")
        .contains("in 90.0 s")
        .contains("Nothing was taken");
  }

  @Test
  void shouldTellThatALeaseExpired() {
    request(10, "r", "a", enqueued("r", "a", 1, 1_000, 1), granted("r", "a"));
    tick(
        120_010,
        new LeaseExpired(QUOTA, "r", "a", "lease", 0L, 0L, null, null, Map.of(), null, null));

    assertThat(story.outcome()).isEqualTo("expired");
    assertThat(texts("expired")).singleElement().asString().contains("nothing is refunded");
  }

  @Test
  void shouldKeepAgentsWithTheSameRequestIdApart() {
    RequestStory second = new RequestStory("r", "a2");
    AdmissionEvent one =
        event(10, new RequestLease(lease("r", "a1"), 10L), List.of(granted("r", "a1")));
    AdmissionEvent two =
        event(
            20, new RequestLease(lease("r", "a2"), 20L), List.of(enqueued("r", "a2", 2, 1_000, 1)));
    second.accept(one);
    second.accept(two);

    assertThat(second.agent()).isEqualTo("a2");
    assertThat(second.outcome()).isEqualTo("waiting");
  }

  @Test
  void shouldTellOfARequestUnderAWrongRecordKey() {
    // when
    story.accept(
        event(
            10,
            new RefuseRequest(lease("r", "a"), "Expected record key 'k', but found 'other'"),
            List.of(
                new LeaseRejected(
                    QUOTA,
                    "r",
                    "a",
                    RejectReason.INVALID,
                    "Expected record key 'k', but found 'other'",
                    null,
                    null,
                    null,
                    null,
                    1,
                    null,
                    null))));

    // then
    assertThat(story.outcome()).isEqualTo("rejected");
    assertThat(texts("rejected"))
        .singleElement()
        .asString()
        .contains("INVALID: Expected record key 'k', but found 'other'; told not to come back");
  }

  @Test
  void shouldSayWhatAWaitIsForThatIsNoneForTokens() {
    // given
    tick(1, defined(QuotaState.PAUSED));
    request(10, "r", "a", enqueued("r", "a", 1, 1_000, 100), queued("r", "a", 1, 0));

    // when
    tick(20, defined(QuotaState.ACTIVE));
    tick(30, new EtaRevised(QUOTA, "r", "a", 1, 0L, null, null, null));

    // then
    assertThat(texts("queued"))
        .containsExactly(
            "told: in line at position 1, no wait for tokens: until the quota is resumed");
    assertThat(texts("eta_revised"))
        .containsExactly("told again: in line at position 1, no wait for tokens: for a free slot");
  }

  @Test
  void shouldSayWhichLimitItWaitsForAndSumUpWhatHeadersDidToOthers() {
    // given
    request(
        10,
        "r",
        "a",
        enqueued("r", "a", 1, 1_000, 100),
        queued("r", "a", 3, 7_600, WaitReason.LIMIT, QUOTA, "input_tokens"));

    // when: headers set three limits, over and over
    tick(20, resynced(QUOTA, "output_tokens", 19_667, 19_617));
    tick(30, resynced(QUOTA, "input_tokens", 120, 90));
    tick(40, resynced(QUOTA, "output_tokens", 19_600, 19_580));
    tick(50, resynced(QUOTA, "requests", 118, 117));
    tick(60, resynced("k/other", "output_tokens", 1, 2));
    tick(70, granted("r", "a"));

    // then
    assertThat(texts("queued"))
        .containsExactly("told: in line at position 3, about 7.6 s to wait for input_tokens");
    assertThat(texts("resynced"))
        .containsExactly("the provider's headers set the balance: input_tokens from 120 to 90");
    assertThat(texts("resynced_others"))
        .containsExactly(
            "the provider's headers set limits that it did not wait for: output_tokens 2 times,"
                + " from 19667 to 19580; requests once, from 118 to 117");
  }

  @Test
  void shouldTellHeadersOfTheSharedQuotaThatItWaitsFor() {
    // given
    request(
        10,
        "r",
        "a",
        enqueued("r", "a", 1, 1_000, 100),
        queued("r", "a", 1, 900, WaitReason.LIMIT, "k/org", "requests"));

    // when
    tick(20, resynced("k/org", "requests", 9, 3));

    // then
    assertThat(texts("queued"))
        .containsExactly(
            "told: in line at position 1, about 0.9 s to wait for requests of quota 'k/org'");
    assertThat(texts("resynced"))
        .containsExactly(
            "the provider's headers set the balance of quota 'k/org': requests from 9 to 3");
  }

  @Test
  void shouldTellAllHeadersWhereAnOlderJournalDoesNotSayWhatWasWaitedFor() {
    // given
    request(10, "r", "a", enqueued("r", "a", 1, 1_000, 100), queued("r", "a", 1, 900));

    // when
    tick(20, resynced(QUOTA, "output_tokens", 9, 3));

    // then
    assertThat(texts("queued")).containsExactly("told: in line at position 1, about 0.9 s to wait");
    assertThat(texts("resynced"))
        .containsExactly("the provider's headers set the balance: output_tokens from 9 to 3");
    assertThat(texts("resynced_others")).isEmpty();
  }

  @Test
  void shouldSayThatAPausedQuotaWaitsForItsOperatorWhateverTheEta() {
    request(
        10,
        "r",
        "a",
        enqueued("r", "a", 1, 1_000, 100),
        queued("r", "a", 1, 900, WaitReason.PAUSE, QUOTA, null));

    assertThat(texts("queued"))
        .containsExactly(
            "told: in line at position 1, about 0.9 s to wait, and for an operator to resume the"
                + " quota");
  }

  @Test
  void shouldSayBothWhereTheDefinitionIsNotKnown() {
    request(10, "r", "a", enqueued("r", "a", 1, 1_000, 100), queued("r", "a", 1, 0));

    assertThat(texts("queued"))
        .singleElement()
        .asString()
        .endsWith("for a free slot, or until the quota is resumed");
  }

  @Test
  void shouldFoldRepeatedAsksIntoOneLine() {
    // given
    request(0, "r", "a", enqueued("r", "a", 1, 1_000, 100), queued("r", "a", 1, 9_000));

    // when
    for (int i = 1; i <= 4; i++) {
      request(5_000 * i, "r", "a", new DecisionRepeated(queued("r", "a", 1, 9_000)));
    }
    tick(21_000, granted("r", "a"));
    request(25_000, "r", "a", new DecisionRepeated(granted("r", "a")));

    // then: one line of each state of the request
    assertThat(story.entries())
        .extracting(StoryEntry::kind)
        .containsExactly("arrived", "enqueued", "queued", "repeated", "granted", "repeated");
    assertThat(story.entries().get(3).atMs()).isEqualTo(5_000);
    assertThat(texts("repeated"))
        .containsExactly(
            "arrived again under the same id, 4 times within 15.0 s; the same decision was told"
                + " again, 4 times within 15.0 s; nothing was charged",
            "arrived again under the same id; the same decision was told again; nothing was"
                + " charged");
  }

  @Test
  void shouldNotFindWhatIsNotThere() {
    request(10, "other", "a", granted("other", "a"));

    assertThat(story.isFound()).isFalse();
    assertThat(story.entries()).isEmpty();
  }

  private List<String> texts(String kind) {
    return story.entries().stream()
        .filter(entry -> entry.kind().equals(kind))
        .map(StoryEntry::text)
        .toList();
  }

  private void request(long atMs, String request, String agent, Object... events) {
    story.accept(event(atMs, new RequestLease(lease(request, agent), atMs), List.of(events)));
  }

  private void tick(long atMs, Object... events) {
    story.accept(event(atMs, new Tick(), List.of(events)));
  }

  private AdmissionEvent event(long atMs, Object command, List<Object> events) {
    return new AdmissionEvent(
        "k",
        ++sequence,
        1,
        atMs,
        "1",
        new Cause(CauseKind.TICK, null, null, null),
        command,
        events);
  }

  private static LeaseRequest lease(String request, String agent) {
    return LeaseRequest.newBuilder()
        .setRequestId(request)
        .setAgentId(agent)
        .setQuota(QUOTA)
        .setEstimate(Estimate.newBuilder().setInputTokens(100L).build())
        .build();
  }

  private static LeaseEnqueued enqueued(
      String request, String agent, long arrival, int weightMilli, long finishTag) {
    return enqueued(request, agent, arrival, weightMilli, finishTag, 100);
  }

  private static LeaseEnqueued enqueued(
      String request,
      String agent,
      long arrival,
      int weightMilli,
      long finishTag,
      long forecastInput) {
    return new LeaseEnqueued(
        WaiterRow.newBuilder()
            .setRequest(lease(request, agent))
            .setContentHash("00")
            .setAppendedAtMs(0)
            .setAttempt(1)
            .setArrival(arrival)
            .setEnqueuedAtMs(0)
            .setDeadlineMs(60_000)
            .setEstimate(amounts())
            .setCost(100)
            .setWeightMilli(weightMilli)
            .setStartTag(0)
            .setFinishTag(finishTag)
            .setForecastInput(forecastInput)
            .build(),
        null);
  }

  private static LeaseGranted granted(String request, String agent) {
    return new LeaseGranted(
        QUOTA, request, agent, "lease", 1, amounts(), false, 0L, 1L, 0L, null, null, null);
  }

  private static LeaseQueued queued(String request, String agent, int position, long etaMs) {
    return new LeaseQueued(QUOTA, request, agent, position, etaMs, null, null, null);
  }

  private static LeaseQueued queued(
      String request,
      String agent,
      int position,
      long etaMs,
      WaitReason reason,
      String quota,
      String dimension) {
    LeaseQueued queued = queued(request, agent, position, etaMs);
    queued.put("waits_for", new WaitsFor(reason, quota, dimension));
    return queued;
  }

  private static BucketsResynced resynced(String quota, String d, long before, long after) {
    DimensionResync resync = new DimensionResync(d, before, after, after, after, null);
    return new BucketsResynced(quota, null, 0L, 0L, List.of(resync));
  }

  private static QuotaDefined defined(QuotaState state) {
    return new QuotaDefined(
        QuotaYaml.parse(
                "quotas: [{id: %s, state: %s, limits: {requests_per_minute: 60}}]"
                    .formatted(QUOTA, state),
                "test")
            .quotas()
            .get(0),
        null,
        List.of());
  }

  private static Amounts amounts() {
    return new Amounts(1L, 100L, null, null, null);
  }
}
