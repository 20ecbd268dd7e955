package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class OffsetTrackerTest {

  @Test
  void shouldOfferNothingBeforeAnythingWasRead() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);

    // when / then
    assertThat(tracker.committable()).isEmpty();
  }

  @Test
  void shouldOfferThePositionOnceAllIsFinished() {
    // given: markers leave the position further on than the last record
    OffsetTracker tracker = new OffsetTracker(10);
    tracker.begin(10, 1, 0);
    tracker.readUpTo(13);

    // when
    tracker.finish(10);

    // then
    assertThat(tracker.committable()).hasValue(13);
  }

  @Test
  void shouldNeverOfferPastAnUnfinishedRecord() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);
    tracker.begin(10, 1, 0);
    tracker.begin(12, 1, 0);
    tracker.begin(15, 1, 0);
    tracker.readUpTo(17);

    // when
    tracker.finish(10);
    tracker.finish(15);

    // then
    assertThat(tracker.committable()).hasValue(12);
  }

  @Test
  void shouldWaitForEachReplyOfARecord() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);
    tracker.begin(10, 2, 0);
    tracker.readUpTo(11);

    // when
    tracker.finish(10);

    // then
    assertThat(tracker.committable()).isEmpty();
    tracker.finish(10);
    assertThat(tracker.committable()).hasValue(11);
  }

  @Test
  void shouldNotWaitForRecordsWithoutReplies() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);

    // when
    tracker.begin(10, 0, 0);
    tracker.readUpTo(11);

    // then
    assertThat(tracker.committable()).hasValue(11);
  }

  @Test
  void shouldOfferAnOffsetOnceUnlessItsCommitFailed() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);
    tracker.readUpTo(11);
    tracker.committed(11);

    // when / then
    assertThat(tracker.committable()).isEmpty();
    tracker.commitFailed();
    assertThat(tracker.committable()).hasValue(11);
  }

  @Test
  void shouldRefuseToFinishWhatIsFinished() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);
    tracker.begin(10, 1, 0);
    tracker.finish(10);

    // when / then
    assertThatThrownBy(() -> tracker.finish(10))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("offset 10");
  }

  @Test
  void shouldTellHowOldTheOldestUnfinishedRecordIs() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);
    tracker.begin(10, 1, 1_000);
    tracker.begin(11, 1, 2_000);

    // when / then
    assertThat(tracker.oldestAppendedMs()).hasValue(1_000);
    tracker.finish(10);
    assertThat(tracker.oldestAppendedMs()).hasValue(2_000);
    tracker.finish(11);
    assertThat(tracker.oldestAppendedMs()).isEqualTo(OptionalLong.empty());
  }

  @Test
  void shouldForgetEverythingWhenRevoked() {
    // given
    OffsetTracker tracker = new OffsetTracker(10);
    tracker.begin(10, 1, 0);

    // when
    tracker.revoke();

    // then
    assertThat(tracker.isRevoked()).isTrue();
    assertThat(tracker.held()).isFalse();
  }

  @Property(tries = 200)
  void shouldOfferTheOldestUnfinishedRecordInAnyOrderOfFinishing(@ForAll long seed) {
    // given: records with gaps between them
    Random random = new Random(seed);
    OffsetTracker tracker = new OffsetTracker(0);
    List<Long> unfinished = new ArrayList<>();
    long offset = 0;
    for (int i = 0; i < 100; i++) {
      // when: either one more is read, or any one is finished
      if (unfinished.isEmpty() || random.nextBoolean()) {
        tracker.begin(offset, 1, 0);
        unfinished.add(offset);
        offset += 1 + random.nextInt(3);
        tracker.readUpTo(offset);
      } else {
        tracker.finish(unfinished.remove(random.nextInt(unfinished.size())));
      }

      // then
      long expected = unfinished.stream().mapToLong(Long::longValue).min().orElse(offset);
      assertThat(tracker.committable().orElse(0)).isEqualTo(expected);
    }
  }
}
