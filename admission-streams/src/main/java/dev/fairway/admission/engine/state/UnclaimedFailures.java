package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.state.Row.RememberedRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Failed calls that no request has retried, by agent, and of each agent by the task that their
 * retries count in. No more than are remembered.
 */
final class UnclaimedFailures {
  /** An agent, or one of its tasks; no task is those of no task. */
  private record Whose(String agentId, String taskId) {
    static Whose all(String agentId) {
      return new Whose(agentId, ""); // No id is empty.
    }
  }

  private final Map<Whose, DueIndex> failures = new HashMap<>();

  void add(RememberedRow row) {
    if (row.unclaimedBy() != null) {
      add(Whose.all(row.unclaimedBy()), row);
      add(new Whose(row.unclaimedBy(), row.budgetTask()), row);
    }
  }

  private void add(Whose whose, RememberedRow row) {
    failures.computeIfAbsent(whose, w -> new DueIndex()).add(row.forgetAtMs(), row.idHash());
  }

  void remove(RememberedRow row) {
    if (row.unclaimedBy() != null) {
      remove(Whose.all(row.unclaimedBy()), row);
      remove(new Whose(row.unclaimedBy(), row.budgetTask()), row);
    }
  }

  private void remove(Whose whose, RememberedRow row) {
    DueIndex index = failures.get(whose);
    index.remove(row.forgetAtMs(), row.idHash());
    if (index.size() == 0) {
      failures.remove(whose);
    }
  }

  /** How many an agent has. */
  int count(String agentId) {
    DueIndex index = failures.get(Whose.all(agentId));
    return index == null ? 0 : index.size();
  }

  /** Identities of the latest of an agent, the latest first. */
  List<String> latest(String agentId, int most) {
    DueIndex index = failures.get(Whose.all(agentId));
    return index == null ? List.of() : index.latest(most);
  }

  /** Identities of the latest of one of its tasks. */
  List<String> latestOfTask(String agentId, String taskId, int most) {
    DueIndex index = failures.get(new Whose(agentId, Objects.requireNonNull(taskId)));
    return index == null ? List.of() : index.latest(most);
  }

  /** Identity of the oldest of an agent, or null. */
  String oldest(String agentId) {
    DueIndex index = failures.get(Whose.all(agentId));
    return index == null ? null : index.firstName();
  }
}
