package dev.fairway.replay.world.clairvoyant;

import dev.fairway.replay.world.Agenda;
import dev.fairway.replay.world.Call;
import dev.fairway.replay.world.Dimension;
import dev.fairway.replay.world.OutsideTraffic;
import dev.fairway.replay.world.Provider;
import dev.fairway.replay.world.WorldOptions.Network;
import java.util.HashMap;
import java.util.Map;

/**
 * What a call will meet when it arrives at the provider: its level now, less the calls that are on
 * their way, the outputs that end before then, and what others will have sent.
 */
final class Foresight {
  private final Agenda agenda;
  private final Provider provider;
  private final OutsideTraffic outside;
  private final long horizonMs;
  private final Map<Call, Long> underway = new HashMap<>();
  private final Map<Call, Long> runningUntilMs = new HashMap<>();
  private long inputUnderway;
  private long maxTokensUnderway;

  Foresight(Agenda agenda, Provider provider, OutsideTraffic outside, Network network) {
    this.agenda = agenda;
    this.provider = provider;
    this.outside = outside;
    this.horizonMs = (long) Math.ceil(network.providerMs() * (1 + network.providerSpread()));
  }

  /** Input of a call that is sent now. */
  long input(Call call) {
    return call.countedInput(now() + horizonMs);
  }

  boolean fits(Call call) {
    if (provider.isOut(now()) || provider.isOut(now() + horizonMs)) {
      return false;
    }
    for (Dimension d : Dimension.values()) {
      if (provider.room(d, now()) < needed(d, call)) {
        return false;
      }
    }
    return true;
  }

  /** When it may fit at the earliest, if nobody else is sent. */
  long whenFits(Call call) {
    return whenFits(call, 0);
  }

  /** Whether a call fits as early behind another one that is sent now. */
  boolean fitsAsEarlyBehind(Call call, Call other) {
    return whenFits(call, input(other)) <= whenFits(call, 0);
  }

  private long whenFits(Call call, long inputBefore) {
    long whenMs = provider.isOut(now() + horizonMs) ? now() + horizonMs : now();
    for (Dimension d : Dimension.values()) {
      long before = d == Dimension.INPUT_TOKENS ? inputBefore : 0;
      long needed = Math.min(needed(d, call) + before, provider.depth(d));
      whenMs = Math.max(whenMs, provider.whenRoom(d, now(), needed));
    }
    return whenMs;
  }

  private long needed(Dimension d, Call call) {
    long need = provider.need(d, input(call), call.role().maxTokens());
    // What others send in this very millisecond may still be to come.
    long fromMs = now() - 1;
    switch (d) {
      case REQUESTS:
        return need + underway.size() + outside.callsBetween(fromMs, now() + horizonMs);
      case INPUT_TOKENS:
        return need + inputUnderway + outside.inputBetween(fromMs, now() + horizonMs);
      default:
        return provider.chargesMaxTokens()
            ? need + maxTokensUnderway
            : need + outputEndingBy(now() + horizonMs);
    }
  }

  private long outputEndingBy(long atMs) {
    long output = 0;
    for (Map.Entry<Call, Long> running : runningUntilMs.entrySet()) {
      output += running.getValue() <= atMs ? running.getKey().output() : 0;
    }
    return output;
  }

  void sent(Call call) {
    long input = input(call);
    underway.put(call, input);
    inputUnderway += input;
    maxTokensUnderway += call.role().maxTokens();
  }

  void arrived(Call call) {
    Long input = underway.remove(call);
    if (input != null) {
      inputUnderway -= input;
      maxTokensUnderway -= call.role().maxTokens();
      runningUntilMs.put(call, now() + call.durationMs());
    }
  }

  void over(Call call) {
    runningUntilMs.remove(call);
  }

  private long now() {
    return agenda.nowMs();
  }
}
