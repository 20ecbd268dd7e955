package dev.fairway.replay.world;

import dev.fairway.replay.world.Work.Crash;
import dev.fairway.replay.world.Work.Place;
import java.util.ArrayDeque;
import java.util.function.LongConsumer;

/**
 * One agent: tasks of turns, each a model call and then tools; the last call of a task asks for no
 * tools, and ends it. A turn that is refused too often or waits too long makes the agent plan
 * again, and then come back to the turn.
 */
final class Agent {
  private static final long BEAT_MS = 90_000;

  private final World world;
  private final Caller self;
  private final PromptPrefix prefix;

  private int tasksBegun;
  private String taskId;
  private int renamed;
  private long taskBeganAtMs;
  private long taskWaitMs;
  private LongConsumer whenTaskEnds;
  private int turn;
  private Place place;
  private Work.Turn drawn;
  private int admittedOfTurn;
  private int replansOfTurn;
  private final ArrayDeque<Work.Turn> plan = new ArrayDeque<>();

  private Call call;
  private boolean inFlight;
  private long waitingSinceMs;
  private long sendings;

  Agent(World world, Caller self) {
    this.world = world;
    this.self = self;
    this.prefix = new PromptPrefix(world.options().provider());
  }

  int index() {
    return self.index();
  }

  String id() {
    return self.id();
  }

  Role role() {
    return self.role();
  }

  // ---- tasks and turns

  /** Begins a task; at its end the consumer gets the sum of its admission waits. */
  void begin(String newTaskId, LongConsumer whenEnded) {
    taskId = newTaskId;
    renamed = 0;
    taskBeganAtMs = world.nowMs();
    taskWaitMs = 0;
    whenTaskEnds = whenEnded;
    turn = 0;
    prefix.clear();
    beginTurn();
  }

  private void beginTurn() {
    place = new Place(index(), tasksBegun, turn);
    drawn = world.work().turn(role(), place);
    if (drawn.fresh()) {
      prefix.clear();
    }
    admittedOfTurn = 0;
    replansOfTurn = 0;
    wantTurn();
  }

  private void wantTurn() {
    waitingSinceMs = world.nowMs();
    want(drawn, false);
  }

  private void endTurn() {
    turn++;
    if (turn < role().turns()) {
      beginTurn();
      return;
    }
    tasksBegun++;
    world.observer().taskEnded(world.nowMs(), role(), id(), taskBeganAtMs);
    whenTaskEnds.accept(taskWaitMs);
  }

  // ---- from the wish to the call

  private void want(Work.Turn next, boolean replan) {
    Call wanted =
        new Call(
            world.nextCallNumber(),
            self,
            renamed == 0 ? taskId : taskId + "." + renamed,
            next,
            replan,
            replan || !role().keepsPrefix() ? null : prefix,
            world.nowMs());
    call = wanted;
    inFlight = false;
    if (!replan) {
      world.agenda().in(world.options().harness().patienceMs(), () -> loseHeart(wanted));
    }
    world.gate().ask(wanted);
  }

  void send(Call granted) {
    if (granted != call || inFlight) {
      return;
    }
    inFlight = true;
    call.sent(world.nowMs());
    Draws delays = world.work().network(index(), sendings++);
    long thereMs = world.work().networkMs(delays);
    long backMs = world.work().networkMs(delays);
    world.agenda().in(thereMs, () -> arrive(granted, backMs));
  }

  private void arrive(Call sent, long backMs) {
    long nowMs = world.nowMs();
    long input = sent.countedInput(nowMs);
    Provider.Answer answer = world.provider().arrive(nowMs, input, role().maxTokens());
    world.gate().arrived(sent);
    if (answer instanceof Provider.Answer.Refused refused) {
      world.observer().refused(nowMs, sent, refused.refusal().binding());
      world.agenda().in(backMs, () -> refused(sent, refused.refusal()));
    } else if (answer instanceof Provider.Answer.Admitted admitted) {
      sent.admitted(input);
      world.observer().admitted(nowMs, sent, input);
      run(sent, input, admitted.headers(), backMs);
    }
  }

  // ---- a call that runs

  private void run(Call running, long input, Headers headers, long backMs) {
    if (running.prefix() != null) {
      prefix.use(running.sentAtMs(), world.nowMs());
    }
    if (!running.isReplan()) {
      taskWaitMs += running.sentAtMs() - waitingSinceMs;
    }
    long latencyMs = running.turn().latencyMs();
    long outputMs = Work.outputMs(running.output());
    world.agenda().in(latencyMs + backMs, () -> started(running, headers));
    Crash crash = world.work().crash(place, admittedOfTurn++);
    if (crash != null) {
      long output = Math.round(running.output() * crash.share());
      world
          .agenda()
          .in(
              latencyMs + Math.round(outputMs * crash.share()),
              () -> crash(running, input, output, crash.awayMs()));
      return;
    }
    world.agenda().in(latencyMs + outputMs, () -> finish(running, input, running.output(), true));
    world.agenda().in(latencyMs + outputMs + backMs, () -> ended(running));
  }

  private void started(Call running, Headers headers) {
    if (running == call) {
      world.gate().started(running, headers);
    }
  }

  private void finish(Call running, long input, long output, boolean completed) {
    world.provider().finish(world.nowMs(), role().maxTokens(), output);
    world.observer().over(world.nowMs(), running, input, output, completed);
    if (completed && !running.isReplan()) {
      world.observer().turnEnded(world.nowMs(), running, waitingSinceMs, running.sentAtMs());
    }
    world.gate().over(running);
  }

  private void crash(Call running, long input, long output, long awayMs) {
    running.lose();
    finish(running, input, output, false);
    world.observer().crashed(world.nowMs(), running);
    call = null;
    world.agenda().in(awayMs, () -> comeBack(running));
  }

  private void comeBack(Call lost) {
    if (lost.isReplan()) {
      want(lost.turn(), true);
    } else {
      wantTurn();
    }
  }

  private void ended(Call running) {
    world.gate().ended(running);
    call = null;
    if (running.isReplan()) {
      continuePlan();
      return;
    }
    if (role().keepsPrefix()) {
      prefix.grow(running.newInput() + running.output());
    }
    if (turn + 1 == role().turns()) {
      endTurn();
      return;
    }
    long nowMs = world.nowMs();
    long toolsEndMs =
        world.options().fleet().tick()
            ? (nowMs / BEAT_MS + 1) * BEAT_MS
            : nowMs + running.turn().toolMs();
    long sinceMs = waitingSinceMs;
    world
        .agenda()
        .at(
            toolsEndMs,
            () -> {
              world.observer().toolsEnded(world.nowMs(), running, sinceMs);
              endTurn();
            });
  }

  // ---- refusals, waits, and planning again

  private void refused(Call sent, Refusal refusal) {
    inFlight = false;
    sent.refused();
    boolean tooOften = sent.refusals() > world.options().harness().retries();
    if (tooOften && sent.isReplan()) {
      // A plan within a plan would never end: this call begins to count anew.
      sent.forgetRefusals();
      tooOften = false;
    }
    boolean tooLong =
        !sent.isReplan()
            && world.nowMs() - sent.wantedAtMs() >= world.options().harness().patienceMs();
    boolean again = !tooOften && !tooLong;
    world.gate().refused(sent, refusal, again);
    if (!again) {
      planAgain(sent);
    }
  }

  private void loseHeart(Call waiting) {
    if (waiting == call && !inFlight) {
      world.gate().withdrawn(waiting);
      planAgain(waiting);
    }
  }

  /** The gate will never let it through: on under another name. */
  void giveUp(Call hopeless) {
    if (hopeless != call || inFlight) {
      return;
    }
    renamed++;
    if (hopeless.isReplan()) {
      want(hopeless.turn(), true);
    } else {
      planAgain(hopeless);
    }
  }

  private void planAgain(Call failed) {
    world.observer().replanned(world.nowMs(), failed, failed.refusals() == 0);
    call = null;
    plan.addAll(
        world.work().replan(role(), place, replansOfTurn++, failed.countedInput(world.nowMs())));
    continuePlan();
  }

  private void continuePlan() {
    Work.Turn next = plan.poll();
    if (next != null) {
      want(next, true);
    } else {
      // The time of planning counts as waiting: the turn is no further than before.
      want(drawn, false);
    }
  }
}
