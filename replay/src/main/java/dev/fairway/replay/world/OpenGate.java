package dev.fairway.replay.world;

import dev.fairway.replay.world.Draws.Stream;

/** No admission: every call is sent at once, and again after a backoff of its agent's own. */
public final class OpenGate implements Gate {
  private final World world;
  private final Backoff backoff;

  /** A gate whose agents back off like that. */
  public OpenGate(World world, Backoff backoff) {
    this.world = world;
    this.backoff = backoff;
  }

  @Override
  public void ask(Call call) {
    world.sender().send(call);
  }

  @Override
  public void refused(Call call, Refusal refusal, boolean again) {
    if (again) {
      world.agenda().in(waitMs(world, backoff, call, refusal), () -> world.sender().send(call));
    }
  }

  static long waitMs(World world, Backoff backoff, Call call, Refusal refusal) {
    double draw =
        Draws.of(world.seed(), Stream.BACKOFF, call.agentIndex(), call.number(), call.refusals(), 0)
            .next();
    return backoff.waitMs(Math.max(1, call.refusals()), refusal, draw);
  }

  @Override
  public void withdrawn(Call call) {}

  @Override
  public void started(Call call, Headers headers) {}

  @Override
  public void ended(Call call) {}
}
