package dev.fairway.replay.world.clairvoyant;

import dev.fairway.replay.world.Agenda;
import dev.fairway.replay.world.Call;
import dev.fairway.replay.world.Dimension;
import dev.fairway.replay.world.Gate;
import dev.fairway.replay.world.Headers;
import dev.fairway.replay.world.OutsideTraffic;
import dev.fairway.replay.world.Provider;
import dev.fairway.replay.world.Refusal;
import dev.fairway.replay.world.World;
import dev.fairway.replay.world.WorldOptions.Network;
import dev.fairway.replay.world.clairvoyant.TagOrder.Waiting;
import java.util.HashMap;
import java.util.Map;

/**
 * Lets calls through in fair order as soon as the provider will admit them, and not before. A
 * strong reference, no proof of the optimum: nobody says that fair order is the fastest.
 */
public final class ClairvoyantGate implements Gate {
  private static final long LOOK_AGAIN_MS = 5;

  private final Agenda agenda;
  private final Sender sender;
  private final TagOrder order;
  private final Foresight foresight;
  private final Backfill backfill;
  private final boolean refillsSteadily;
  private final Map<Call, Waiting> served = new HashMap<>();
  private long wakeAtMs = Long.MAX_VALUE;

  /** A gate for that world. */
  public ClairvoyantGate(World world) {
    this(
        world.agenda(),
        world.provider(),
        world.outside(),
        world.options().network(),
        world.sender());
  }

  /** A gate between that sender and that provider. */
  public ClairvoyantGate(
      Agenda agenda, Provider provider, OutsideTraffic outside, Network network, Sender sender) {
    this.agenda = agenda;
    this.sender = sender;
    this.order = new TagOrder(provider.limits());
    this.foresight = new Foresight(agenda, provider, outside, network);
    this.backfill = new Backfill(provider.depth(Dimension.INPUT_TOKENS));
    this.refillsSteadily = provider.refillsSteadily();
  }

  @Override
  public void ask(Call call) {
    order.add(call, foresight.input(call));
    drain();
  }

  @Override
  public void withdrawn(Call call) {
    if (order.remove(call)) {
      drain();
    }
  }

  @Override
  public void arrived(Call call) {
    foresight.arrived(call);
    drain();
  }

  @Override
  public void over(Call call) {
    foresight.over(call);
    served.remove(call);
    drain();
  }

  @Override
  public void refused(Call call, Refusal refusal, boolean again) {
    foresight.over(call);
    Waiting before = served.remove(call);
    if (again) {
      order.putBack(before);
      drain();
    }
  }

  @Override
  public void started(Call call, Headers headers) {}

  @Override
  public void ended(Call call) {}

  private void drain() {
    Waiting head = order.head();
    while (head != null && foresight.fits(head.call())) {
      serve(head);
      head = order.head();
    }
    backfill.setHead(head);
    if (head != null) {
      passHead(head);
      wakeFor(head);
    }
  }

  private void passHead(Waiting head) {
    long headInput = foresight.input(head.call());
    Waiting passing = nextToPass(head, headInput);
    while (passing != null) {
      backfill.passed(foresight.input(passing.call()));
      serve(passing);
      passing = nextToPass(head, headInput);
    }
  }

  private Waiting nextToPass(Waiting head, long headInput) {
    for (Waiting waiting : order) {
      if (waiting != head && foresight.fits(waiting.call()) && mayPass(waiting, head, headInput)) {
        return waiting;
      }
    }
    return null;
  }

  /** Of a window, a call may take what the head cannot have anyway; of a bucket, a share. */
  private boolean mayPass(Waiting waiting, Waiting head, long headInput) {
    return refillsSteadily
        ? backfill.mayPass(foresight.input(waiting.call()), headInput)
        : foresight.fitsAsEarlyBehind(head.call(), waiting.call());
  }

  private void serve(Waiting waiting) {
    order.serve(waiting);
    served.put(waiting.call(), waiting);
    foresight.sent(waiting.call());
    sender.send(waiting.call());
  }

  private void wakeFor(Waiting head) {
    long nowMs = agenda.nowMs();
    long dueMs = Math.max(nowMs + LOOK_AGAIN_MS, foresight.whenFits(head.call()));
    if (dueMs < wakeAtMs || wakeAtMs <= nowMs) {
      wakeAtMs = dueMs;
      agenda.at(dueMs, () -> wake(dueMs));
    }
  }

  private void wake(long dueMs) {
    if (wakeAtMs == dueMs) {
      wakeAtMs = Long.MAX_VALUE;
      drain();
    }
  }
}
