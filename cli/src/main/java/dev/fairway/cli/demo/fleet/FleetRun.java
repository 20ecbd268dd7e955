package dev.fairway.cli.demo.fleet;

import dev.fairway.cli.demo.fleet.AgentLog.Counts;
import dev.fairway.cli.demo.fleet.Span.Activity;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * One run of the fleet, a thread an agent. At its end no new turn starts, waits are broken off, and
 * open calls are finished and settled.
 */
public final class FleetRun {
  /** An open call ends by itself: the client gives up after 60 s. */
  private static final long DRAIN_MS_MAX = 70_000;

  private static final long TICK_MS = 1_000;

  private final Clock clock;
  private final Gates gates;
  private final List<AgentLog> logs = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile long startedEpochMs;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private interface HarnessFactory {
    Harness create(int number, AgentPlan plan, AgentLog log, Clock clock);
  }

  private FleetRun(FleetPlan plan, HarnessFactory harnesses) {
    this.clock = new Clock(plan.seconds() * 1000);
    this.gates = new Gates(plan.agents());
    for (AgentPlan agent : plan.agents()) {
      AgentLog log = new AgentLog(agent);
      Harness harness = harnesses.create(logs.size(), agent, log, clock);
      logs.add(log);
      Thread thread = new Thread(() -> live(agent, log, harness), "demo-" + agent.agent());
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  /** Starts the agents. */
  public void start() {
    startedEpochMs = System.currentTimeMillis();
    clock.start();
    threads.forEach(Thread::start);
  }

  /**
   * A fleet with nothing between it and the provider.
   *
   * @param backoff what agents do after a 429
   * @param seed of the harness's own draws: jitter and re-plans
   */
  public static FleetRun withoutAdmission(
      FleetPlan plan, URI provider, Backoff backoff, long seed) {
    ProviderClient client = new ProviderClient(provider);
    client.warmUp();
    return new FleetRun(
        plan,
        (number, agent, log, clock) ->
            new RetryingHarness(
                client, log, clock, backoff, Draws.stream(seed, "harness", number, 0)));
  }

  /**
   * A fleet behind admission.
   *
   * @param admissions each agent's own; stays open, the caller closes it after the run
   */
  public static FleetRun withAdmission(
      FleetPlan plan, URI provider, Function<AgentPlan, Admission> admissions) {
    ProviderClient client = new ProviderClient(provider);
    client.warmUp();
    return new FleetRun(
        plan,
        (number, agent, log, clock) ->
            new AdmittedHarness(admissions.apply(agent), client, log, clock));
  }

  private void live(AgentPlan plan, AgentLog log, Harness harness) {
    try {
      boolean goesOn = clock.waitUntil(plan.startMs());
      for (int i = 0; goesOn && i < plan.turns().size(); i++) {
        Turn turn = plan.turns().get(i);
        if (turn.place().first()) {
          log.doing(Activity.IDLE);
          goesOn = gates.await(plan, turn.task(), clock);
        }
        goesOn = goesOn && harness.call(turn) && useTools(turn, log);
        if (goesOn && turn.place().last()) {
          log.taskFinished();
          gates.done(plan, turn.task());
        }
      }
      log.doing(Activity.IDLE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      stop();
    }
  }

  private boolean useTools(Turn turn, AgentLog log) throws InterruptedException {
    double fromMs = clock.nowMs();
    log.doing(Activity.TOOLS);
    boolean goesOn = clock.waitUntil(fromMs + turn.toolMs());
    log.span(Activity.TOOLS, fromMs, clock.nowMs(), turn.index());
    return goesOn;
  }

  /**
   * Waits for the end of the run and of all open calls.
   *
   * @param tick called about once a second meanwhile
   * @throws IllegalStateException if an agent died, or an open call did not end
   */
  public void await(Runnable tick) throws InterruptedException {
    double untilMs = clock.endMs() + DRAIN_MS_MAX;
    long tickedNanos = System.nanoTime();
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        if (clock.nowMs() > untilMs) {
          throw new IllegalStateException(
              "Expected every call to end within "
                  + DRAIN_MS_MAX
                  + " ms after the run, but "
                  + thread.getName()
                  + " still waits for one");
        }
        thread.join(TICK_MS);
        if (System.nanoTime() - tickedNanos >= TimeUnit.MILLISECONDS.toNanos(TICK_MS)) {
          tickedNanos = System.nanoTime();
          tick.run();
        }
      }
    }
    if (failure.get() != null) {
      throw new IllegalStateException("An agent of the fleet failed", failure.get());
    }
  }

  /** Ends the run before its time. */
  public void stop() {
    clock.stop();
    gates.wake();
  }

  /** Seconds since the start. */
  public double elapsedSeconds() {
    return clock.nowMs() / 1000;
  }

  /** When the run started, in milliseconds since the epoch. */
  public long startedEpochMs() {
    return startedEpochMs;
  }

  /** What happened to each agent, up to date at any time. */
  public List<AgentLog> logs() {
    return List.copyOf(logs);
  }

  /** The fleet's counts so far. */
  public Counts counts() {
    return logs.stream().map(AgentLog::counts).reduce(Counts.none(), Counts::plus);
  }
}
