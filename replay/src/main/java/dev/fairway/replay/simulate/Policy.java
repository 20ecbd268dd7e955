package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Admission;
import dev.fairway.replay.world.Backoff;
import dev.fairway.replay.world.Gate;
import dev.fairway.replay.world.OpenGate;
import dev.fairway.replay.world.ProtocolGate;
import dev.fairway.replay.world.clairvoyant.ClairvoyantGate;
import dev.fairway.schemas.PolicyPreset;
import java.util.Arrays;
import java.util.Optional;

/** What can stand between a fleet and its provider. */
public enum Policy {
  /** Every agent waits 1 s, doubling to 30 s. */
  BACKOFF_NO_JITTER("backoff-no-jitter", world -> new OpenGate(world, Backoff.NO_JITTER_30)),
  /** Every agent backs off with full jitter up to 30 s: the usual, and the control. */
  FULL_JITTER_30("full-jitter-30", world -> new OpenGate(world, Backoff.FULL_JITTER_30)),
  /** The same up to 120 s. */
  FULL_JITTER_120("full-jitter-120", world -> new OpenGate(world, Backoff.FULL_JITTER_120)),
  /** The same up to 30 s, on top of what the provider asks for. */
  FULL_JITTER_RETRY_AFTER(
      "full-jitter-retry-after", world -> new OpenGate(world, Backoff.FULL_JITTER_RETRY_AFTER)),
  /** A counter of calls a minute that the fleet shares. */
  SHARED_RPM("shared-rpm", admission(SharedRpm::new)),
  /** One bucket, first come, first served. */
  FIFO_BUCKET("fifo-bucket", admission(FifoBucket::new)),
  /** The engine with the published rules. */
  SEED(
      "seed",
      admission(
          (terms, decisions) ->
              new EngineAdmission(FleetQuota.of(terms, PolicyPreset.SEED), decisions))),
  /** The engine as it is by default. */
  FAIRWAY(
      "fairway",
      admission(
          (terms, decisions) ->
              new EngineAdmission(FleetQuota.of(terms, PolicyPreset.FAIRWAY), decisions))),
  /** The reference: it knows the truth. */
  CLAIRVOYANT("clairvoyant", ClairvoyantGate::new);

  private final String wireName;
  private final Gate.Maker gate;

  Policy(String wireName, Gate.Maker gate) {
    this.wireName = wireName;
    this.gate = gate;
  }

  private static Gate.Maker admission(Admission.Maker maker) {
    return ProtocolGate.of(maker, Backoff.FULL_JITTER_30);
  }

  /** Name on the command line and in results. */
  public String wireName() {
    return wireName;
  }

  /** Makes its gate. */
  public Gate.Maker gate() {
    return gate;
  }

  /** Whether agents are alone with the provider's refusals. */
  public boolean isBackoffAlone() {
    return ordinal() <= FULL_JITTER_RETRY_AFTER.ordinal();
  }

  /** The policy of that name, if there is one. */
  public static Optional<Policy> named(String wireName) {
    return Arrays.stream(values()).filter(p -> p.wireName.equals(wireName)).findFirst();
  }
}
