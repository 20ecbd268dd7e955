package dev.fairway.agent.task;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.schemas.TaskState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The tasks of one orchestrator and what each waits for, told to the coordinator as they change: a
 * task is declared with what it depends on, and when one is done those that waited for it alone are
 * unblocked. Thread-safe; never blocks. Updates leave in the order in which the graph changed.
 *
 * <p>At most {@value #OPEN_MAX} tasks are open; the newest {@value #ENDED_MAX} that ended are
 * known, so that a task that is declared later may depend on them.
 */
public final class TaskGraph {
  /** Most tasks that are declared and not over. */
  public static final int OPEN_MAX = 10_000;

  /** Most tasks that one depends on. */
  public static final int DEPENDENCIES_MAX = 100;

  /** The coordinator counts no more; see {@link #unblocks}. */
  public static final int UNBLOCKS_MAX = 32;

  static final int ENDED_MAX = 100_000;

  /** Where updates go. */
  @FunctionalInterface
  public interface Updates {
    /**
     * Tells how a task goes.
     *
     * @return completes when the brokers have it
     */
    CompletableFuture<Void> update(
        String taskId, String role, TaskState state, List<String> blockedOn);
  }

  private static final class Node {
    final String role;
    final Set<String> waitsFor;

    Node(String role, Set<String> waitsFor) {
      this.role = role;
      this.waitsFor = waitsFor;
    }
  }

  private final Updates updates;
  private final Map<String, Node> open = new LinkedHashMap<>();

  /** Open tasks by what they wait for, whether that is open or failed. */
  private final Map<String, Set<String>> waiting = new HashMap<>();

  private final Map<String, Boolean> ended =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > ENDED_MAX;
        }
      };

  /** A graph whose updates go somewhere. */
  public TaskGraph(Updates updates) {
    this.updates = updates;
  }

  /**
   * A graph that is told over Kafka.
   *
   * @param member whom the client speaks for, or null
   * @param quota any quota of the key that the tasks' calls use
   */
  public static TaskGraph of(AdmissionClient client, String member, String quota) {
    return new TaskGraph(
        (task, role, state, blockedOn) ->
            client.updateTask(member, quota, task, role, state, blockedOn));
  }

  /**
   * Declares a task: it begins now, or when all it depends on is done.
   *
   * @param taskId id; not one that is open
   * @param role role of its agent, or null if unknown
   * @param dependsOn tasks that are open or were done; one that failed blocks for ever
   * @return completes when the brokers have it
   * @throws IllegalArgumentException if the task or a dependency is not as it should be; nothing is
   *     told then
   * @throws IllegalStateException if too many tasks are open
   */
  public synchronized CompletableFuture<Void> declare(
      String taskId, String role, List<String> dependsOn) {
    Set<String> waitsFor = new LinkedHashSet<>();
    for (String dependency : dependsOn) {
      if (!open.containsKey(dependency) && !ended.containsKey(dependency)) {
        throw new IllegalArgumentException(
            "Expected task "
                + taskId
                + " to depend on declared tasks, but "
                + dependency
                + " is none. Declare what is depended on first.");
      }
      if (!Boolean.TRUE.equals(ended.get(dependency)) || open.containsKey(dependency)) {
        waitsFor.add(dependency);
      }
    }
    if (open.containsKey(taskId) || dependsOn.contains(taskId)) {
      throw new IllegalArgumentException(
          "Expected a new task, but " + taskId + " is open, or depends on itself.");
    }
    String between = waitsOnTheWayTo(taskId, waitsFor);
    if (between != null) {
      throw new IllegalArgumentException(
          "Expected no circle, but task "
              + taskId
              + ", declared again, would wait for "
              + between
              + ", which waits for it. Declare it without that.");
    }
    if (waitsFor.size() > DEPENDENCIES_MAX) {
      throw new IllegalArgumentException(
          "Expected task "
              + taskId
              + " to depend on at most "
              + DEPENDENCIES_MAX
              + " others, but found "
              + waitsFor.size()
              + ".");
    }
    if (open.size() >= OPEN_MAX) {
      throw new IllegalStateException(
          "Expected fewer than " + OPEN_MAX + " open tasks. End some before more are declared.");
    }
    CompletableFuture<Void> told =
        updates.update(
            taskId,
            role,
            waitsFor.isEmpty() ? TaskState.STARTED : TaskState.BLOCKED,
            List.copyOf(waitsFor));
    ended.remove(taskId);
    open.put(taskId, new Node(role, waitsFor));
    for (String dependency : waitsFor) {
      waiting.computeIfAbsent(dependency, name -> new LinkedHashSet<>()).add(taskId);
    }
    return told;
  }

  /** A task is done; those that waited for it alone are unblocked. Of an unknown one: an error. */
  public CompletableFuture<Void> done(String taskId) {
    return end(taskId, TaskState.DONE);
  }

  /** A task is done and merged. */
  public CompletableFuture<Void> merged(String taskId) {
    return end(taskId, TaskState.MERGED);
  }

  /** A task failed; those that wait for it stay blocked until it is declared and done again. */
  public CompletableFuture<Void> failed(String taskId) {
    return end(taskId, TaskState.FAILED);
  }

  /** Open tasks that wait for nothing, in the order in which they were declared. */
  public synchronized List<String> ready() {
    return open.entrySet().stream()
        .filter(task -> task.getValue().waitsFor.isEmpty())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** How many tasks wait for one, directly or by others, up to {@value #UNBLOCKS_MAX}. */
  public synchronized int unblocks(String taskId) {
    Set<String> found = new HashSet<>();
    Deque<String> next = new ArrayDeque<>(List.of(taskId));
    while (!next.isEmpty() && found.size() < UNBLOCKS_MAX) {
      for (String waits : waiting.getOrDefault(next.poll(), Set.of())) {
        if (found.size() < UNBLOCKS_MAX && found.add(waits)) {
          next.add(waits);
        }
      }
    }
    return found.size();
  }

  /**
   * Which of the dependencies waits for a task, directly or by others, or null. Only one that
   * failed and is declared again can have somebody who waits for it.
   */
  private String waitsOnTheWayTo(String taskId, Set<String> dependencies) {
    if (!waiting.containsKey(taskId)) {
      return null;
    }
    Set<String> found = new HashSet<>();
    Deque<String> next = new ArrayDeque<>(List.of(taskId));
    while (!next.isEmpty()) {
      for (String waits : waiting.getOrDefault(next.poll(), Set.of())) {
        if (dependencies.contains(waits)) {
          return waits;
        }
        if (found.add(waits)) {
          next.add(waits);
        }
      }
    }
    return null;
  }

  private synchronized CompletableFuture<Void> end(String taskId, TaskState state) {
    Node node = open.get(taskId);
    if (node == null) {
      throw new IllegalArgumentException(
          "Expected an open task to end, but " + taskId + " is none. Declare it first.");
    }
    List<CompletableFuture<Void>> told = new ArrayList<>();
    told.add(updates.update(taskId, node.role, state, List.of()));
    open.remove(taskId);
    boolean succeeded = state != TaskState.FAILED;
    ended.put(taskId, succeeded);
    for (String dependency : node.waitsFor) {
      Set<String> others = waiting.get(dependency);
      others.remove(taskId);
      if (others.isEmpty()) {
        waiting.remove(dependency);
      }
    }
    Set<String> freed = succeeded ? waiting.remove(taskId) : null;
    for (String other : freed == null ? Set.<String>of() : freed) {
      Set<String> left = open.get(other).waitsFor;
      left.remove(taskId);
      told.add(
          updates.update(
              other,
              open.get(other).role,
              left.isEmpty() ? TaskState.UNBLOCKED : TaskState.BLOCKED,
              List.copyOf(left)));
    }
    return CompletableFuture.allOf(told.toArray(CompletableFuture<?>[]::new));
  }
}
