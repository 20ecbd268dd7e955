package dev.fairway.replay.simulate;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.world.WorldOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a study found.
 *
 * @param options the world
 * @param knobs of the quotas of policies with knobs; empty for none
 * @param seeds seeds, in the order of the runs
 * @param policies policies asked for, in the order asked
 * @param runs of each policy, in the order of the seeds; the clairvoyant's always among them
 */
public record StudyResult(
    WorldOptions options,
    ObjectNode knobs,
    List<Long> seeds,
    List<Policy> policies,
    Map<Policy, List<RunResult>> runs) {

  /** What is compared with the clairvoyant seed by seed, where more is better. */
  private static final List<Metric> CONTESTED =
      List.of(Metric.USEFUL_VS_CLAIRVOYANT, Metric.FINISHED_VS_CLAIRVOYANT);

  /** Where less is better, as long as the work is done: who does little waits for little. */
  private static final List<Metric> CONTESTED_WAITS =
      List.of(Metric.CRITICAL_WAIT_VS_CLAIRVOYANT, Metric.LEAF_P50_VS_CLAIRVOYANT);

  /**
   * A seed on which a policy beat the clairvoyant.
   *
   * @param factor what it has over what the clairvoyant has; infinite where that has none of it
   */
  public record Beaten(long seed, Policy policy, Metric metric, double factor) {

    /** The factor, for people. */
    public String words() {
      return Double.isInfinite(factor)
          ? "some to none"
          : String.format(Locale.ROOT, "%.4f", factor);
    }
  }

  /** A seed on which a policy sent no call at all, and the run's numbers. */
  public record Silent(long seed, Policy policy, RunResult run) {}

  /** A metric of a policy over the seeds. */
  public Spread spread(Policy policy, Metric metric) {
    List<Double> values = new ArrayList<>();
    for (int s = 0; s < seeds.size(); s++) {
      values.add(value(policy, metric, s));
    }
    return Spread.of(values);
  }

  /** A metric of a policy on one seed, counted from 0. */
  public double value(Policy policy, Metric metric, int seedIndex) {
    return metric.of(runs.get(policy).get(seedIndex), runs.get(Policy.CLAIRVOYANT).get(seedIndex));
  }

  /**
   * Where the reference was not the best: more work, or more pull requests, or shorter waits at
   * {@value Verdict#AS_GOOD} of its work or more.
   */
  public List<Beaten> beaten() {
    List<Beaten> all = new ArrayList<>();
    for (int s = 0; s < seeds.size(); s++) {
      for (Policy policy : policies) {
        for (Metric metric : CONTESTED) {
          double factor = value(policy, metric, s);
          if (factor > 1) {
            all.add(new Beaten(seeds.get(s), policy, metric, factor));
          }
        }
        if (value(policy, Metric.USEFUL_VS_CLAIRVOYANT, s) < Verdict.AS_GOOD) {
          continue;
        }
        for (Metric metric : CONTESTED_WAITS) {
          double factor = value(policy, metric, s);
          if (factor < 1) {
            all.add(new Beaten(seeds.get(s), policy, metric, factor));
          }
        }
      }
    }
    return all;
  }

  /** Where a policy sent no call at all. */
  public List<Silent> silent() {
    List<Silent> all = new ArrayList<>();
    for (int s = 0; s < seeds.size(); s++) {
      for (Policy policy : policies) {
        RunResult run = runs.get(policy).get(s);
        if (run.calls() == 0) {
          all.add(new Silent(seeds.get(s), policy, run));
        }
      }
    }
    return all;
  }

  /** All that the result depends on besides seeds and policies: the world, and knobs if any. */
  public Map<String, Object> parameters() {
    Map<String, Object> parameters = new LinkedHashMap<>(options.parameters());
    if (!knobs.isEmpty()) {
      parameters.put("knobs", knobs);
    }
    return parameters;
  }

  /** As JSON values: means, their spread, each seed, and all parameters. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("scenario", "fleet");
    json.put("agents", options.fleet().agents());
    json.put("rho", options.provider().rho());
    json.put("seeds", seeds);
    Map<String, Object> byPolicy = new LinkedHashMap<>();
    policies.forEach(policy -> byPolicy.put(policy.wireName(), json(policy)));
    json.put("policies", byPolicy);
    List<Object> beaten = new ArrayList<>();
    beaten().forEach(b -> beaten.add(json(b)));
    json.put("clairvoyant_beaten", beaten);
    json.put("sent_nothing", silent().stream().map(StudyResult::json).toList());
    json.put("parameters", parameters());
    return json;
  }

  private Map<String, Object> json(Policy policy) {
    Map<String, Object> json = new LinkedHashMap<>();
    Map<String, Object> spreads = new LinkedHashMap<>();
    for (Metric metric : Metric.values()) {
      Spread spread = spread(policy, metric);
      json.put(metric.wireName(), number(spread.mean()));
      Map<String, Object> of = new LinkedHashMap<>();
      of.put("sd", number(spread.sd()));
      of.put("least", number(spread.least()));
      of.put("most", number(spread.most()));
      List<Object> bySeed = new ArrayList<>();
      for (int s = 0; s < seeds.size(); s++) {
        bySeed.add(number(value(policy, metric, s)));
      }
      of.put("by_seed", bySeed);
      spreads.put(metric.wireName(), of);
    }
    json.put("spread", spreads);
    return json;
  }

  private static Map<String, Object> json(Beaten beaten) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("seed", beaten.seed());
    json.put("policy", beaten.policy().wireName());
    json.put("metric", beaten.metric().wireName());
    json.put("factor", number(beaten.factor()));
    return json;
  }

  private static Map<String, Object> json(Silent silent) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("seed", silent.seed());
    json.put("policy", silent.policy().wireName());
    json.put("most_rejected", silent.run().mostRejected().map(r -> r.reason().name()).orElse(null));
    return json;
  }

  /** Null where there is no number: JSON has no NaN. */
  private static Double number(double value) {
    return Double.isFinite(value) ? (Double) (Math.round(value * 1e6) / 1e6) : null;
  }
}
