package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.EtaRevised;
import dev.fairway.schemas.QuotaReleased;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.SafeCapacity;
import dev.fairway.schemas.SafeCapacityTold;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaitsFor;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecisionMapperTest {

  @Test
  void shouldMapGrant() {
    // given
    AdmissionEvent record = Events.ticked(Events.granted("a1", "r1", 121_000));

    // when
    Decision decision = only(record);

    // then
    assertThat(decision.getStatus()).isEqualTo(DecisionStatus.GRANTED);
    assertThat(decision.getGranted().getLeaseId()).isEqualTo("lease-r1");
    assertThat(decision.getGranted().getAttempt()).isEqualTo(2);
    assertThat(decision.getGranted().getCharged().getInputTokens()).isEqualTo(80);
    assertThat(decision.getGranted().getExpiresAtMs()).isEqualTo(121_000);
    assertThat(decision.getGranted().getTtlMs()).isEqualTo(120_000);
    assertThat(decision.getQueued()).isNull();
    assertThat(decision.getRejected()).isNull();
    assertThat(decision.getCorrelation()).isEqualTo(ByteBuffer.wrap(new byte[] {1, -2, 3}));
  }

  @Test
  void shouldTellWhoDecidedWhatAndWhen() {
    // given
    AdmissionEvent record = Events.ticked(Events.queued("a1", "r1"));

    // when
    Decision decision = only(record);

    // then
    assertThat(decision.getDecisionId()).isEqualTo("k:3:7:0");
    assertThat(decision.getRequestId()).isEqualTo("r1");
    assertThat(decision.getAgentId()).isEqualTo("a1");
    assertThat(decision.getQuota()).isEqualTo("k/q");
    assertThat(decision.getDecidedAtMs()).isEqualTo(Events.AT_MS);
    assertThat(decision.getEpoch()).isEqualTo(3);
    assertThat(decision.getSequence()).isEqualTo(7);
    assertThat(decision.getRepeated()).isFalse();
    assertThat(decision.getSafeCapacity()).isNull();
    assertThat(decision.getCorrelation()).isNull();
  }

  @Test
  void shouldTellEachAgentWhatItMayUseAlone() {
    // given
    Amounts share = new Amounts(3L, 900L, null, null, null);
    AdmissionEvent record =
        Events.ticked(
            Events.queued("a1", "r1"),
            Events.queued("a2", "r2"),
            Events.granted("a1", "r3", 121_000),
            new SafeCapacityTold("k/q", "a1", 5L, share, Events.AT_MS + 600_000, 0L));

    // when
    List<Decision> decisions = DecisionMapper.decisionsOf(record);

    // then
    SafeCapacity told = new SafeCapacity(share, 600_000L);
    assertThat(decisions).extracting(Decision::getSafeCapacity).containsExactly(told, null, told);
  }

  @Test
  void shouldMapQueued() {
    // given
    AdmissionEvent record = Events.ticked(Events.queued("a1", "r1"));

    // when
    Decision decision = only(record);

    // then
    assertThat(decision.getStatus()).isEqualTo(DecisionStatus.QUEUED);
    assertThat(decision.getQueued().getPosition()).isEqualTo(4);
    assertThat(decision.getQueued().getEtaMs()).isEqualTo(500);
    assertThat(decision.getQueued().getEtaP90Ms()).isEqualTo(900);
    assertThat(decision.getQueued().getWaitsFor())
        .isEqualTo(new WaitsFor(WaitReason.LIMIT, "k/q", "requests"));
  }

  @Test
  void shouldMapRevisedEtaToQueued() {
    // given
    AdmissionEvent record =
        Events.ticked(
            EtaRevised.newBuilder()
                .setQuota("k/q")
                .setRequestId("r1")
                .setAgentId("a1")
                .setPosition(2)
                .setEtaMs(300)
                .setEtaP90Ms(null)
                .setWaitsFor(new WaitsFor(WaitReason.PAUSE, "k/q", null))
                .setCorrelation(ByteBuffer.wrap(new byte[] {9}))
                .build());

    // when
    Decision decision = only(record);

    // then
    assertThat(decision.getStatus()).isEqualTo(DecisionStatus.QUEUED);
    assertThat(decision.getQueued().getPosition()).isEqualTo(2);
    assertThat(decision.getQueued().getEtaMs()).isEqualTo(300);
    assertThat(decision.getQueued().getEtaP90Ms()).isNull();
    assertThat(decision.getQueued().getWaitsFor().getReason()).isEqualTo(WaitReason.PAUSE);
    assertThat(decision.getCorrelation()).isEqualTo(ByteBuffer.wrap(new byte[] {9}));
    assertThat(decision.getRepeated()).isFalse();
  }

  @Test
  void shouldMapRejectWithTimeToComeBack() {
    // given
    AdmissionEvent record = Events.ticked(Events.rejected("a1", "r1", 4_000L));

    // when
    Decision decision = only(record);

    // then
    assertThat(decision.getStatus()).isEqualTo(DecisionStatus.REJECTED);
    assertThat(decision.getRejected().getReason()).isEqualTo(RejectReason.QUEUE_FULL);
    assertThat(decision.getRejected().getDetail()).startsWith("Expected room");
    assertThat(decision.getRejected().getRetryAtMs()).isEqualTo(4_000);
    assertThat(decision.getRejected().getRetryAfterMs()).isEqualTo(3_000);
  }

  @Test
  void shouldMapRejectForGood() {
    // given
    AdmissionEvent record = Events.ticked(Events.rejected("a1", "r1", null));

    // when
    Decision decision = only(record);

    // then
    assertThat(decision.getRejected().getRetryAtMs()).isNull();
    assertThat(decision.getRejected().getRetryAfterMs()).isNull();
  }

  @Test
  void shouldNeverTellNegativeDurations() {
    // given
    AdmissionEvent record =
        Events.ticked(Events.rejected("a1", "r1", 10L), Events.granted("a1", "r2", 10));

    // when
    List<Decision> decisions = DecisionMapper.decisionsOf(record);

    // then
    assertThat(decisions.get(0).getRejected().getRetryAfterMs()).isZero();
    assertThat(decisions.get(1).getGranted().getTtlMs()).isZero();
  }

  @Test
  void shouldMapRepeatedDecisionsOfEachKind() {
    // given
    AdmissionEvent record =
        Events.ticked(
            new DecisionRepeated(Events.granted("a1", "r1", 5_000)),
            new DecisionRepeated(Events.queued("a1", "r2")),
            new DecisionRepeated(Events.rejected("a1", "r3", null)));

    // when
    List<Decision> decisions = DecisionMapper.decisionsOf(record);

    // then
    assertThat(decisions)
        .extracting(Decision::getStatus)
        .containsExactly(DecisionStatus.GRANTED, DecisionStatus.QUEUED, DecisionStatus.REJECTED);
    assertThat(decisions).allMatch(Decision::getRepeated);
    assertThat(decisions.get(0).getGranted().getTtlMs()).isEqualTo(4_000);
  }

  @Test
  void shouldCountEventsThatAreNoDecisionInTheId() {
    // given
    AdmissionEvent record =
        Events.ticked(
            new QuotaReleased("k/q"),
            Events.granted("a1", "r1", 5_000),
            Events.granted("a2", "r2", 5_000));

    // when
    List<Decision> decisions = DecisionMapper.decisionsOf(record);

    // then
    assertThat(decisions).extracting(Decision::getDecisionId).containsExactly("k:3:7:1", "k:3:7:2");
  }

  @Test
  void shouldFindNoDecisionInOtherEvents() {
    // given
    AdmissionEvent record = Events.ticked(new QuotaReleased("k/q"));

    // when
    List<Decision> decisions = DecisionMapper.decisionsOf(record);

    // then
    assertThat(decisions).isEmpty();
  }

  @Test
  void shouldMapTheSameRecordToTheSameDecisionsAgain() {
    // given
    AdmissionEvent record = Events.ticked(Events.granted("a1", "r1", 5_000));

    // when
    List<Decision> first = DecisionMapper.decisionsOf(record);
    first.get(0).getCorrelation().get();
    List<Decision> second = DecisionMapper.decisionsOf(record);

    // then
    assertThat(second.get(0).getCorrelation().remaining()).isEqualTo(3);
    assertThat(second.get(0).getDecisionId()).isEqualTo(first.get(0).getDecisionId());
  }

  @Test
  void shouldKnowWhoAsked() {
    // given
    AdmissionEvent asked = Events.asked("a1", "r1", Events.granted("a2", "r0", 5_000));
    AdmissionEvent ticked = Events.ticked(Events.granted("a1", "r1", 5_000));

    // when / then
    assertThat(DecisionMapper.isRequestOf(asked, "a1")).isTrue();
    assertThat(DecisionMapper.isRequestOf(asked, "a2")).isFalse();
    assertThat(DecisionMapper.isRequestOf(ticked, "a1")).isFalse();
  }

  private static Decision only(AdmissionEvent record) {
    List<Decision> decisions = DecisionMapper.decisionsOf(record);
    assertThat(decisions).hasSize(1);
    return decisions.get(0);
  }
}
