package dev.fairway.replay.world;

import dev.fairway.replay.world.Draws.Stream;
import java.util.ArrayList;
import java.util.List;

/**
 * One run: a fleet, its provider, everybody else on the same limit, and a gate between them. The
 * same seed and options give the same work to every gate, and the same run to the same gate. Not
 * thread-safe; runs of several worlds share nothing.
 */
public final class World {
  private static final double WINDOW_MS = 60_000;
  private static final double MINUTE_MS = 60_000;

  private final WorldOptions options;
  private final Observer observer;
  private final Agenda agenda = new Agenda();
  private final Work work;
  private final Provider provider;
  private final OutsideTraffic outside;
  private final List<Group> groups = new ArrayList<>();
  private final List<Agent> agents = new ArrayList<>();
  private final Gate.Sender sender =
      new Gate.Sender() {
        @Override
        public void send(Call call) {
          agents.get(call.agentIndex()).send(call);
        }

        @Override
        public void giveUp(Call call) {
          agents.get(call.agentIndex()).giveUp(call);
        }
      };
  private final long seed;
  private Gate gate;
  private long calls;

  private World(long seed, WorldOptions options, Limits limits, Observer observer) {
    this.seed = seed;
    this.options = options;
    this.observer = observer;
    this.work = new Work(seed, options);
    long firstWindowEndMs =
        1 + Math.round(Draws.of(seed, Stream.WINDOW, 0, 0).between(0, WINDOW_MS));
    this.provider = new Provider(options.provider(), limits, firstWindowEndMs);
    this.outside = OutsideTraffic.draw(seed, options, limits.inputTokens());
    for (int g = 0; g < options.fleet().agents() / Group.SIZE; g++) {
      groups.add(new Group(this, g));
    }
  }

  /**
   * Runs a fleet through a gate.
   *
   * @param limits of the provider, see {@link #limits}
   */
  public static void run(
      long seed, WorldOptions options, Limits limits, Gate.Maker gate, Observer observer) {
    World world = new World(seed, options, limits, observer);
    world.gate = gate.make(world);
    world.run();
  }

  /** The limits that a fleet meets: its demand where nothing holds it back, over {@code rho}. */
  public static Limits limits(long seed, WorldOptions options) {
    return Limits.forDemand(demand(seed, options), options);
  }

  /** Input tokens a minute of a fleet that nothing holds back and nobody disturbs. */
  static double demand(long seed, WorldOptions options) {
    WorldOptions free =
        options
            .with(Parameter.OUTSIDE, 0)
            .with(Parameter.OUTSIDE_BURST, 0)
            .with(Parameter.OUTAGE_S, 0)
            .with(Parameter.CRASH_RATE, 0);
    Limits unlimited = new Limits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);
    long[] input = {0};
    Observer sum =
        new Observer() {
          @Override
          public void over(long atMs, Call call, long counted, long output, boolean completed) {
            input[0] += counted;
          }
        };
    run(seed, free, unlimited, world -> new OpenGate(world, Backoff.FULL_JITTER_30), sum);
    return input[0] * MINUTE_MS / options.durationMs();
  }

  private void run() {
    groups.forEach(Group::start);
    outsideCall(0);
    agenda.runUntil(options.durationMs());
  }

  private void outsideCall(int call) {
    if (call < outside.count()) {
      agenda.at(
          outside.atMs(call),
          () -> {
            provider.outside(agenda.nowMs(), outside.input(call));
            observer.outside(agenda.nowMs(), outside.input(call));
            outsideCall(call + 1);
          });
    }
  }

  /** The next agent of the fleet; indexes are given out in order. */
  Agent agent(Caller caller) {
    Agent agent = new Agent(this, caller);
    agents.add(agent);
    observer.joined(caller.index(), caller.id());
    return agent;
  }

  /** What a gate calls to let calls be sent. */
  public Gate.Sender sender() {
    return sender;
  }

  /** Time. */
  public Agenda agenda() {
    return agenda;
  }

  /** The provider: the truth, which no policy may ask. */
  public Provider provider() {
    return provider;
  }

  /** Everybody else: the truth, future included, which no policy may ask. */
  public OutsideTraffic outside() {
    return outside;
  }

  /** Options of the run. */
  public WorldOptions options() {
    return options;
  }

  long seed() {
    return seed;
  }

  long nowMs() {
    return agenda.nowMs();
  }

  Work work() {
    return work;
  }

  Gate gate() {
    return gate;
  }

  Observer observer() {
    return observer;
  }

  long nextCallNumber() {
    return calls++;
  }
}
