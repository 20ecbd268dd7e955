package dev.fairway.replay.simulate;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.world.Admission;
import dev.fairway.replay.world.Backoff;
import dev.fairway.replay.world.Gate;
import dev.fairway.replay.world.OpenGate;
import dev.fairway.replay.world.ProtocolGate;
import dev.fairway.replay.world.clairvoyant.ClairvoyantGate;
import dev.fairway.schemas.PolicyPreset;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** What can stand between a fleet and its provider. */
public enum Policy {
  BACKOFF_NO_JITTER(
      "backoff-no-jitter",
      "No admission: after a 429 every agent waits 1 s, then twice as long, up to 30 s.",
      Backoff.NO_JITTER_30),
  FULL_JITTER_30(
      "full-jitter-30",
      "No admission: after a 429 every agent waits anything up to 1 s, doubling to 30 s. The usual,"
          + " and the control.",
      Backoff.FULL_JITTER_30),
  FULL_JITTER_120(
      "full-jitter-120", "As full-jitter-30, but doubling to 120 s.", Backoff.FULL_JITTER_120),
  FULL_JITTER_RETRY_AFTER(
      "full-jitter-retry-after",
      "As full-jitter-30, on top of what the provider asks for.",
      Backoff.FULL_JITTER_RETRY_AFTER),
  SHARED_RPM(
      "shared-rpm",
      "A counter of calls a minute that the fleet shares.",
      knobs -> admission(SharedRpm::new)),
  FIFO_BUCKET(
      "fifo-bucket",
      "One bucket at 85 % of the limits, first come, first served.",
      knobs -> admission(FifoBucket::new)),
  SEED(
      "seed",
      "Fairway's engine with the published rules.",
      knobs -> engine(PolicyPreset.SEED, Policy.none())),
  SEED_KNOBS(
      "seed+knobs",
      "As seed, with the knobs of this run in its quota.",
      knobs -> engine(PolicyPreset.SEED, knobs)),
  FAIRWAY(
      "fairway",
      "Fairway's engine as it is by default.",
      knobs -> engine(PolicyPreset.FAIRWAY, Policy.none())),
  FAIRWAY_KNOBS(
      "fairway+knobs",
      "As fairway, with the knobs of this run in its quota.",
      knobs -> engine(PolicyPreset.FAIRWAY, knobs)),
  CLAIRVOYANT(
      "clairvoyant",
      "The reference, which knows the truth: the provider's level, what each call will use, and what"
          + " others send next.",
      knobs -> ClairvoyantGate::new);

  private final String wireName;
  private final String meaning;
  private final boolean backoffAlone;
  private final Function<ObjectNode, Gate.Maker> gate;

  Policy(String wireName, String meaning, Function<ObjectNode, Gate.Maker> gate) {
    this.wireName = wireName;
    this.meaning = meaning;
    this.backoffAlone = false;
    this.gate = gate;
  }

  Policy(String wireName, String meaning, Backoff backoff) {
    this.wireName = wireName;
    this.meaning = meaning;
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

  private static ObjectNode none() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Name on the command line and in results. */
  public String wireName() {
    return wireName;
  }

  /** What it is, in words for a report. */
  public String meaning() {
    return meaning;
  }

  /**
   * Makes its gates.
   *
   * @param knobs what the quota of an engine with knobs has besides its limits, as in a quota's
   *     JSON; nothing to the other policies
   */
  public Gate.Maker gate(ObjectNode knobs) {
    return gate.apply(knobs);
  }

  /** Whether agents are alone with the provider's refusals. */
  public boolean isBackoffAlone() {
    return backoffAlone;
  }

  /** Whether its engine's quota has the knobs of the run. */
  public boolean hasKnobs() {
    return this == SEED_KNOBS || this == FAIRWAY_KNOBS;
  }

  /** The same engine with the knobs of the run; empty for what is none, or has them already. */
  public Optional<Policy> withKnobs() {
    return this == SEED
        ? Optional.of(SEED_KNOBS)
        : this == FAIRWAY ? Optional.of(FAIRWAY_KNOBS) : Optional.empty();
  }

  /** All that need no knobs, in their order. */
  public static List<Policy> withoutKnobs() {
    return Arrays.stream(values()).filter(policy -> !policy.hasKnobs()).toList();
  }

  /** The policy of that name, if there is one. */
  public static Optional<Policy> named(String wireName) {
    return Arrays.stream(values()).filter(p -> p.wireName.equals(wireName)).findFirst();
  }
}
