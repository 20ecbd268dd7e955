package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.gateway.LeaseTicket.Report;
import dev.fairway.agent.gateway.LeaseTicket.Status;
import dev.fairway.agent.gateway.LeaseTicket.View;
import dev.fairway.schemas.Outcome;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.thread.Scheduler;
import org.junit.jupiter.api.Test;

/** What becomes of a ticket as time goes by, and when its asker counts as told. */
class LeaseTicketTest {
  private static final CompletableFuture<Void> NEVER = new CompletableFuture<>();

  private final FakeAdmission admission = new FakeAdmission();
  private final Clock clock = new Clock();
  private final LeaseTicket ticket = new LeaseTicket("t", "owner", null, clock::nowMs, clock);
  private final CompletableFuture<Grant> asked = new CompletableFuture<>();

  @Test
  void shouldWithdrawARequestThatNobodyAsksAbout() {
    // given
    ticket.follow(asked);

    // when
    clock.advance(LeaseDesk.UNASKED_MS);

    // then
    assertThat(asked.isCancelled()).isTrue();
    assertThat(ticket.view().outcome()).isEqualTo(Outcome.CANCELLED);
  }

  @Test
  void shouldBeKeptByNoTimer() {
    // given: granted, with its time to live ahead, and the watch for who does not ask
    WeakReference<LeaseTicket> forgotten = new WeakReference<>(granted());

    // when / then: nobody but timers knows it any more
    Awaitility.await()
        .until(
            () -> {
              System.gc();
              return forgotten.get() == null;
            });
    clock.advance(600_000);
  }

  private LeaseTicket granted() {
    LeaseTicket other = new LeaseTicket("o", "owner", null, clock::nowMs, clock);
    CompletableFuture<Grant> asking = new CompletableFuture<>();
    other.follow(asking);
    asking.complete(new FreeGrant());
    assertThat(other.tell().status()).isEqualTo(Status.GRANTED);
    return other;
  }

  @Test
  void shouldKeepARequestThatSomebodyWaitsFor() {
    // given: asked about 59 s ago, and waited for since
    ticket.follow(asked);
    clock.advance(LeaseDesk.UNASKED_MS - 1_000);
    CompletableFuture<Void> poll = ticket.decided(Duration.ofSeconds(60), NEVER);

    // when
    clock.advance(59_000);

    // then
    assertThat(poll.isDone()).isFalse();
    assertThat(ticket.view().status()).isEqualTo(Status.QUEUED);
    clock.advance(1_000);
    assertThat(poll.isDone()).isTrue();
    clock.advance(LeaseDesk.UNASKED_MS - 1);
    assertThat(asked.isCancelled()).isFalse();
    clock.advance(1);
    assertThat(asked.isCancelled()).isTrue();
  }

  @Test
  void shouldWaitNoLongerForWhoIsGone() {
    // given
    ticket.follow(asked);
    CompletableFuture<Void> gone = new CompletableFuture<>();
    CompletableFuture<Void> poll = ticket.decided(Duration.ofSeconds(60), gone);

    // when
    gone.complete(null);
    clock.advance(LeaseDesk.UNASKED_MS);

    // then
    assertThat(poll.isDone()).isTrue();
    assertThat(asked.isCancelled()).isTrue();
  }

  @Test
  void shouldGiveBackAtOnceWhatNobodyWasToldOfWhenTheGatewayStops() {
    // given: an answer that names the grant is on its way
    ticket.follow(asked);
    grant();
    View view = ticket.tell();

    // when
    ticket.drain();
    assertThat(admission.settled).isEmpty();
    ticket.told(view, false);

    // then
    assertThat(admission.outcomes()).containsExactly(Outcome.NOT_SENT);
    assertThat(ticket.tell()).isNull();
  }

  @Test
  void shouldGiveBackAGrantThatComesWhenTheGatewayStops() {
    // given: it stops before the request is made
    ticket.drain();

    // when
    ticket.follow(asked);
    FakeAdmission.Asked other = new FakeAdmission.Asked(null, new CompletableFuture<>(), "r", 1);
    other.grant(admission);
    ticket.follow(other.answer());

    // then
    assertThat(asked).isCancelled();
    assertThat(admission.outcomes()).containsExactly(Outcome.NOT_SENT);
    assertThat(ticket.tell()).isNull();
  }

  @Test
  void shouldGiveBackAGrantWhoseAnswerDidNotGetOut() {
    // given
    ticket.follow(asked);
    grant();
    View view = ticket.tell();

    // when
    ticket.told(view, false);
    clock.advance(admission.ttl.toMillis());

    // then
    assertThat(admission.outcomes()).containsExactly(Outcome.NOT_SENT);
  }

  @Test
  void shouldTakeAGrantForUsedOnceOneOfTwoAnswersIsOut() {
    // given
    ticket.follow(asked);
    grant();
    View one = ticket.tell();
    View two = ticket.tell();

    // when
    ticket.told(one, true);
    ticket.told(two, false);
    clock.advance(admission.ttl.toMillis());

    // then: it may have been sent, and a report may still come
    assertThat(admission.settled).isEmpty();
    assertThat(admission.expiring).hasSize(1);
  }

  @Test
  void shouldWaitForALateReportNoLongerThanItCounts() {
    // given: a grant that was told of, and not reported on
    ticket.follow(asked);
    grant();
    ticket.told(ticket.tell(), true);
    clock.advance(admission.ttl.toMillis());

    // when / then
    clock.advance(LeaseDesk.LATE_MS - 1);
    assertThat(admission.settled).isEmpty();
    clock.advance(1);
    assertThat(admission.outcomes()).containsExactly(Outcome.FAILED_AFTER_SEND);
    ticket.report(report(Outcome.SUCCEEDED, false));
    assertThat(admission.settled).hasSize(1);
  }

  @Test
  void shouldTakeAReportThatComesBeforeItsAnswerIsKnownToBeOut() {
    // given: the next attempt is being told of
    ticket.follow(asked);
    grant();
    assertThat(ticket.report(report(Outcome.RATE_LIMITED, true))).isTrue();
    ticket.tell();

    // when
    boolean taken = ticket.report(report(Outcome.SUCCEEDED, false));

    // then
    assertThat(taken).isTrue();
    assertThat(admission.outcomes()).containsExactly(Outcome.RATE_LIMITED, Outcome.SUCCEEDED);
  }

  @Test
  void shouldNotTakeAnAnswerThatGetsOutLateForOneOnTheNextGrant() {
    // given: the answer of the first grant is out once the second one is there
    ticket.follow(asked);
    grant();
    View first = ticket.tell();
    ticket.report(report(Outcome.RATE_LIMITED, true));

    // when
    ticket.told(first, true);
    clock.advance(admission.ttl.toMillis());

    // then
    assertThat(admission.outcomes()).containsExactly(Outcome.RATE_LIMITED, Outcome.NOT_SENT);
  }

  @Test
  void shouldWithdrawOnce() {
    // given
    ticket.follow(asked);

    // when
    boolean first = ticket.report(Report.WITHDRAWN);
    boolean again = ticket.report(Report.WITHDRAWN);

    // then
    assertThat(first).isTrue();
    assertThat(again).isTrue();
    assertThat(asked.isCancelled()).isTrue();
    assertThat(ticket.report(report(Outcome.SUCCEEDED, false))).isFalse();
  }

  private void grant() {
    new FakeAdmission.Asked(null, asked, "r1", 1).grant(admission);
  }

  private static Report report(Outcome outcome, boolean requeue) {
    return new Report(outcome, requeue, null, null, null);
  }

  /** Time that goes when it is told to. */
  private static final class Clock extends AbstractLifeCycle implements Scheduler {
    private record Due(long atMs, long order, Runnable task) {}

    private final PriorityQueue<Due> due =
        new PriorityQueue<>(Comparator.comparing(Due::atMs).thenComparing(Due::order));
    private long nowMs = 1_000;
    private long orders;

    long nowMs() {
      return nowMs;
    }

    void advance(long ms) {
      long untilMs = nowMs + ms;
      while (!due.isEmpty() && due.peek().atMs <= untilMs) {
        Due next = due.remove();
        nowMs = next.atMs;
        next.task.run();
      }
      nowMs = untilMs;
    }

    @Override
    public Task schedule(Runnable task, long delay, TimeUnit unit) {
      Due scheduled = new Due(nowMs + unit.toMillis(delay), orders++, task);
      due.add(scheduled);
      return () -> due.remove(scheduled);
    }
  }
}
