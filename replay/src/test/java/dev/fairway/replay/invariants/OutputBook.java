package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The output that is reserved, against the outputs that settlements in the journal have told: three
 * of four of the role's last 200 (of all roles, while there are few of its own) do not exceed it,
 * and it is never above max_tokens; times what an output token counts.
 */
final class OutputBook {
  private static final int KEPT = 200;
  private static final int FEW = 4;
  private static final long HALF_A_DAY_MS = 12 * 3_600_000L;
  private static final String ALL = "";

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final Map<String, Deque<Long>> outputs = new HashMap<>();

  /** Quotas that were removed: what they had learned may be gone. */
  private final Set<String> unknown = new HashSet<>();

  private Step before;

  static List<String> reservesWhatCallsProduced(List<Step> steps) {
    OutputBook book = new OutputBook();
    for (Step step : steps) {
      if (book.before != null && step.atMs() - book.before.atMs() > HALF_A_DAY_MS) {
        return book.wrong; // What is not used for a day is forgotten.
      }
      book.read(step);
      book.before = step;
    }
    return book.wrong;
  }

  private void read(Step step) {
    for (Event event : step.handled().events()) {
      if (event instanceof Event.QuotaDefined e) {
        definitions.put(e.quotaId(), e.definition());
      } else if (event instanceof Event.QuotaRemoved e) {
        unknown.add(e.quotaId());
      } else if (event instanceof LeaseSettled e && e.usedOutput() != null) {
        add(e.quotaId() + " " + ALL, e.usedOutput());
        add(e.quotaId() + " " + roleOf(e.leaseId()), e.usedOutput());
      } else if (event instanceof LeaseEnqueued e && e.waiter().attempt() == 1) {
        check(e.waiter());
      }
    }
  }

  private void add(String name, long output) {
    Deque<Long> last = outputs.computeIfAbsent(name, n -> new ArrayDeque<>());
    last.addLast(output);
    if (last.size() > KEPT) {
      last.removeFirst();
    }
  }

  private String roleOf(String leaseId) {
    return before.rows().stream()
        .filter(row -> row instanceof Row.LeaseRow r && r.lease().leaseId().equals(leaseId))
        .map(row -> ((Row.LeaseRow) row).lease().standing().role())
        .findFirst()
        .orElseThrow();
  }

  private void check(Waiter waiter) {
    String quotaId = waiter.request().quotaId();
    QuotaDefinition definition = definitions.get(quotaId);
    Long most = waiter.request().estimate().maxOutputTokens();
    long reserved = waiter.forecast().outputTokens();
    int burndown = definition.outputBurndown() == null ? 1 : definition.outputBurndown();
    if (most != null && reserved > burndown * most) {
      wrong.add(waiter.request() + " is to reserve " + reserved + " of output");
    }
    if (unknown.contains(quotaId) || definition.preset() == Preset.SEED) {
      return;
    }
    Long learned = percentile(quotaId + " " + waiter.standing().role());
    learned = learned == null ? percentile(quotaId + " " + ALL) : learned;
    long expected = most == null ? 0 : most;
    if (learned != null) {
      expected = most == null ? learned : Math.min(most, learned);
    }
    expected *= burndown;
    boolean mayBeClipped =
        definition.limits().has(Dimension.OUTPUT_TOKENS)
            || definition.limits().has(Dimension.TOKENS);
    if (reserved > expected || (reserved < expected && !mayBeClipped)) {
      wrong.add(
          waiter.request() + " is to reserve " + reserved + " of output, and not " + expected);
    }
  }

  /** What three of four do not exceed. */
  private Long percentile(String name) {
    Deque<Long> last = outputs.getOrDefault(name, new ArrayDeque<>());
    return last.size() < FEW
        ? null
        : last.stream().sorted().skip((3L * last.size() + 3) / 4 - 1).findFirst().orElseThrow();
  }
}
