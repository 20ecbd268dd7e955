package dev.fairway.replay.simulate;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.world.Limits;
import dev.fairway.replay.world.Observer;
import dev.fairway.replay.world.World;
import dev.fairway.replay.world.WorldOptions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Policies over the same seeds. The clairvoyant always runs, for the others are measured against
 * it. The result does not depend on how many runs go on at a time.
 */
public final class Study {
  private final WorldOptions options;
  private final List<Long> seeds;
  private final List<Policy> policies;
  private final ObjectNode knobs;

  /**
   * A study; policies are reported in the order given.
   *
   * @param knobs of the quotas of policies with knobs, see {@link Policy#gate}; empty for none
   */
  public Study(WorldOptions options, List<Long> seeds, List<Policy> policies, ObjectNode knobs) {
    this.knobs = knobs;
    this.options = options;
    this.seeds = List.copyOf(seeds);
    this.policies = List.copyOf(policies);
  }

  /**
   * Runs one policy on one seed and lets somebody watch, for pictures of it.
   *
   * @param watcher sees everything that happens
   */
  public RunResult run(long seed, Policy policy, Observer watcher) {
    return run(seed, World.limits(seed, options), policy, watcher);
  }

  private RunResult run(long seed, Limits limits, Policy policy, Observer watcher) {
    RunTally tally = new RunTally();
    Observer both = watcher == null ? tally : new ObserverPair(tally, watcher);
    World.run(seed, options, limits, policy.gate(knobs), both);
    return tally.result(limits, options);
  }

  /**
   * Runs them all.
   *
   * @param jobs runs at a time, at least 1
   * @param progress is told of each run that is done
   * @throws InterruptedException if the thread is interrupted while it waits; runs are stopped
   * @throws IllegalStateException if a run fails, with the reason
   */
  public StudyResult run(int jobs, Consumer<String> progress) throws InterruptedException {
    List<Policy> all = new ArrayList<>(policies);
    if (!all.contains(Policy.CLAIRVOYANT)) {
      all.add(Policy.CLAIRVOYANT);
    }
    ExecutorService pool = Executors.newFixedThreadPool(jobs);
    try {
      Map<Long, Future<Limits>> limits = new LinkedHashMap<>();
      for (long seed : seeds) {
        limits.put(seed, pool.submit(() -> World.limits(seed, options)));
      }
      Map<Long, Map<Policy, Future<RunResult>>> runs = new LinkedHashMap<>();
      for (long seed : seeds) {
        Limits ofSeed = get(limits.get(seed), "the limits of seed " + seed);
        Map<Policy, Future<RunResult>> bySeed = new EnumMap<>(Policy.class);
        for (Policy policy : all) {
          bySeed.put(policy, pool.submit(() -> run(seed, ofSeed, policy, null)));
        }
        runs.put(seed, bySeed);
      }
      Map<Policy, List<RunResult>> results = new EnumMap<>(Policy.class);
      for (long seed : seeds) {
        for (Policy policy : all) {
          String what = policy.wireName() + " on seed " + seed;
          RunResult result = get(runs.get(seed).get(policy), what);
          results.computeIfAbsent(policy, p -> new ArrayList<>()).add(result);
          progress.accept(what);
        }
      }
      return new StudyResult(options, knobs, seeds, policies, results);
    } finally {
      pool.shutdownNow();
    }
  }

  private static <T> T get(Future<T> future, String what) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(
          "Expected to run " + what + ", but: " + e.getCause().getMessage(), e.getCause());
    }
  }
}
