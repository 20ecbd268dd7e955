package dev.fairway.admission;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.AdmissionEngine.Placed;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.topology.EngineTasks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * What holds now in the engines of this process. A question waits for the stream threads, at most
 * {@value #TIMEOUT_MS} ms. Thread-safe.
 */
final class EngineQueries {
  static final int QUOTAS_MAX = 10_000;
  static final int ENTRIES_MAX = 10_000;
  private static final long TIMEOUT_MS = 2_000;
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final EngineTasks tasks;
  private final LongSupplier clock;
  private volatile Statuses last;

  private record Statuses(List<QuotaSnapshot> quotas, long nanos) {}

  /** A stream thread did not answer. */
  static final class NoAnswerException extends Exception {
    private static final long serialVersionUID = 1L;

    NoAnswerException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  EngineQueries(EngineTasks tasks, LongSupplier clock) {
    this.tasks = tasks;
    this.clock = clock;
  }

  /** All quotas owned here, by id, at most 250 ms old; no more than {@value #QUOTAS_MAX}. */
  List<QuotaSnapshot> quotas() throws NoAnswerException {
    Statuses known = last;
    if (known != null && System.nanoTime() - known.nanos() < FRESH_NANOS) {
      return known.quotas();
    }
    List<QuotaSnapshot> quotas =
        ask(
            engine -> {
              List<QuotaSnapshot> found = new ArrayList<>();
              long nowMs = clock.getAsLong();
              for (String id : ids(engine, null)) {
                found.add(engine.show(id, nowMs));
              }
              return found;
            },
            QUOTAS_MAX);
    quotas = quotas.stream().sorted(Comparator.comparing(q -> q.definition().id())).toList();
    last = new Statuses(quotas, System.nanoTime());
    return quotas;
  }

  /**
   * Open leases, by quota, in order of grant.
   *
   * @param quotaId null: of all quotas
   */
  List<Lease> leases(String quotaId, int limit) throws NoAnswerException {
    return ask(
        engine -> {
          List<Lease> found = new ArrayList<>();
          for (String id : ids(engine, quotaId)) {
            for (Lease lease : engine.openLeases(id)) {
              if (found.size() == limit) {
                return found;
              }
              found.add(lease);
            }
          }
          return found;
        },
        limit);
  }

  /**
   * Waiting requests, by quota, in the order in which they will be served.
   *
   * @param quotaId null: of all quotas
   */
  List<Placed> queue(String quotaId, int limit) throws NoAnswerException {
    return ask(
        engine -> {
          List<Placed> found = new ArrayList<>();
          long nowMs = clock.getAsLong();
          for (String id : ids(engine, quotaId)) {
            found.addAll(engine.line(id, limit - found.size(), nowMs));
          }
          return found;
        },
        limit);
  }

  private <T> List<T> ask(Function<AdmissionEngine, List<T>> question, int limit)
      throws NoAnswerException {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    List<T> all = new ArrayList<>();
    for (CompletableFuture<List<T>> answer :
        tasks.ask((engine, partition) -> question.apply(engine))) {
      try {
        all.addAll(answer.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS));
      } catch (TimeoutException e) {
        answer.cancel(false);
        throw new NoAnswerException(
            "Expected the stream threads to answer within "
                + TIMEOUT_MS
                + " ms, but they are busy or rebalancing; ask again",
            e);
      } catch (ExecutionException e) {
        throw new NoAnswerException(e.getCause().getMessage() + "; ask again", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new NoAnswerException("Interrupted", e);
      }
    }
    return all.size() > limit ? all.subList(0, limit) : all;
  }

  private static List<String> ids(AdmissionEngine engine, String quotaId) {
    if (quotaId != null) {
      return engine.quotaIds(QuotaDefinition.keyOf(quotaId)).contains(quotaId)
          ? List.of(quotaId)
          : List.of();
    }
    List<String> ids = new ArrayList<>();
    for (String key : engine.keys().stream().sorted().toList()) {
      ids.addAll(engine.quotaIds(key));
      if (ids.size() >= QUOTAS_MAX) {
        return ids.subList(0, QUOTAS_MAX);
      }
    }
    return ids;
  }
}
