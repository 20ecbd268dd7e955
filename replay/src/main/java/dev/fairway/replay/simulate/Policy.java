package dev.fairway.replay.simulate;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.world.Admission;
import dev.fairway.replay.world.Backoff;
import dev.fairway.replay.world.Gate;
import dev.fairway.replay.world.OpenGate;
import dev.fairway.replay.world.ProtocolGate;
import dev.fairway.replay.world.clairvoyant.ClairvoyantGate;
import dev.fairway.schemas.PolicyPreset;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;

/** What can stand between a fleet and its provider. */
public enum Policy {
  /** Every agent waits 1 s, doubling to 30 s. */
  BACKOFF_NO_JITTER("backoff-no-jitter", Backoff.NO_JITTER_30),
  /** Every agent backs off with full jitter up to 30 s: the usual, and the control. */
  FULL_JITTER_30("full-jitter-30", Backoff.FULL_JITTER_30),
  /** The same up to 120 s. */
  FULL_JITTER_120("full-jitter-120", Backoff.FULL_JITTER_120),
  /** The same up to 30 s, on top of what the provider asks for. */
  FULL_JITTER_RETRY_AFTER("full-jitter-retry-after", Backoff.FULL_JITTER_RETRY_AFTER),
  /** A counter of calls a minute that the fleet shares. */
  SHARED_RPM("shared-rpm", knobs -> admission(SharedRpm::new)),
  /** One bucket, first come, first served. */
  FIFO_BUCKET("fifo-bucket", knobs -> admission(FifoBucket::new)),
  /** The engine with the published rules. */
  SEED("seed", knobs -> engine(PolicyPreset.SEED, knobs)),
  /** The engine as it is by default. */
  FAIRWAY("fairway", knobs -> engine(PolicyPreset.FAIRWAY, knobs)),
  /** The reference: it knows the truth. */
  CLAIRVOYANT("clairvoyant", knobs -> ClairvoyantGate::new);

  private final String wireName;
  private final boolean backoffAlone;
  private final Function<ObjectNode, Gate.Maker> gate;

  Policy(String wireName, Function<ObjectNode, Gate.Maker> gate) {
    this.wireName = wireName;
    this.backoffAlone = false;
    this.gate = gate;
  }

  Policy(String wireName, Backoff backoff) {
    this.wireName = wireName;
    this.backoffAlone = true;
    this.gate = knobs -> world -> new OpenGate(world, backoff);
  }

  private static Gate.Maker engine(PolicyPreset preset, ObjectNode knobs) {
    return admission(
        (terms, decisions) -> new EngineAdmission(FleetQuota.of(terms, preset, knobs), decisions));
  }

  private static Gate.Maker admission(Admission.Maker maker) {
    return ProtocolGate.of(maker, Backoff.FULL_JITTER_30);
  }

  /** Name on the command line and in results. */
  public String wireName() {
    return wireName;
  }

  /**
   * Makes its gates.
   *
   * @param knobs what the quota of an engine has besides its limits, as in a quota's JSON; empty
   *     for its preset's
   */
  public Gate.Maker gate(ObjectNode knobs) {
    return gate.apply(knobs);
  }

  /** Whether agents are alone with the provider's refusals. */
  public boolean isBackoffAlone() {
    return backoffAlone;
  }

  /** The policy of that name, if there is one. */
  public static Optional<Policy> named(String wireName) {
    return Arrays.stream(values()).filter(p -> p.wireName.equals(wireName)).findFirst();
  }
}
