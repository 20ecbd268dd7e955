package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.TaskUpdate.State;
import dev.fairway.admission.engine.state.Row.TaskNode;
import dev.fairway.admission.engine.state.Row.TaskRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which tasks wait for which, as orchestrators told. Bounded: a task keeps {@value #MAX_BLOCKED_ON}
 * of the tasks it waits for, a key {@value #MAX_EDGES} of these in all; a task is forgotten with
 * its row. Every walk stops at a fixed number of tasks.
 */
public final class TaskGraph {
  /** Most tasks that one task is kept waiting for. */
  public static final int MAX_BLOCKED_ON = 100;

  /** Most waits of a key. */
  public static final int MAX_EDGES = 200_000;

  private final Map<String, TaskRow> tasks;
  private final Map<String, TreeSet<String>> waiting = new HashMap<>();
  private int edges;

  TaskGraph(Map<String, TaskRow> tasks) {
    this.tasks = tasks;
  }

  /** How many more waits are kept. */
  public int room() {
    return Math.max(0, MAX_EDGES - edges);
  }

  /** Whether anybody told anything of that task. */
  public boolean knows(String taskId) {
    return node(taskId) != null || waiting.containsKey(taskId);
  }

  /** What was told of a task last, or null. */
  public TaskNode node(String taskId) {
    TaskRow row = tasks.get(taskId);
    return row == null ? null : row.node();
  }

  /** Tasks that wait for this one, or for one that waits for it; counted up to {@code most}. */
  public int unblocks(String taskId, int most) {
    Set<String> seen = new LinkedHashSet<>();
    seen.add(taskId);
    Deque<String> next = new ArrayDeque<>(seen);
    while (!next.isEmpty() && seen.size() <= most) {
      for (String waits : waiting.getOrDefault(next.poll(), NONE)) {
        if (seen.size() <= most && seen.add(waits)) {
          next.add(waits);
        }
      }
    }
    return seen.size() - 1;
  }

  /** Those tasks and what they wait for in turn, nearest first; at most {@code most}. */
  public List<String> upstream(List<String> taskIds, int most) {
    Set<String> seen = new LinkedHashSet<>();
    Deque<String> next = new ArrayDeque<>();
    for (String task : taskIds) {
      if (seen.size() < most && seen.add(task)) {
        next.add(task);
      }
    }
    while (!next.isEmpty()) {
      TaskNode node = node(next.poll());
      for (String task : node == null ? List.<String>of() : node.blockedOn()) {
        if (seen.size() < most && seen.add(task)) {
          next.add(task);
        }
      }
    }
    return new ArrayList<>(seen);
  }

  /**
   * Running tasks that unblock the same task as this one, this one aside; at most {@code most}, in
   * order of the tasks they unblock.
   */
  public List<TaskRow> runningSiblings(String taskId, int most) {
    Set<String> seen = new LinkedHashSet<>();
    List<TaskRow> siblings = new ArrayList<>();
    int walked = 0;
    for (String parent : waiting.getOrDefault(taskId, NONE)) {
      for (String sibling : node(parent).blockedOn()) {
        if (++walked > most || siblings.size() >= most) {
          return siblings;
        }
        TaskRow row = tasks.get(sibling);
        if (!sibling.equals(taskId) && row != null && seen.add(sibling) && running(row.node())) {
          siblings.add(row);
        }
      }
    }
    return siblings;
  }

  private static boolean running(TaskNode node) {
    return node == null || node.state() == State.STARTED || node.state() == State.UNBLOCKED;
  }

  /** Row of a task, or null. */
  public TaskRow task(String taskId) {
    return tasks.get(taskId);
  }

  private static final TreeSet<String> NONE = new TreeSet<>();

  void link(String taskId, TaskNode node) {
    for (String blocker : node == null ? List.<String>of() : node.blockedOn()) {
      if (waiting.computeIfAbsent(blocker, b -> new TreeSet<>()).add(taskId)) {
        edges++;
      }
    }
  }

  void unlink(String taskId, TaskNode node) {
    for (String blocker : node == null ? List.<String>of() : node.blockedOn()) {
      TreeSet<String> waits = waiting.get(blocker);
      if (waits != null && waits.remove(taskId)) {
        edges--;
        if (waits.isEmpty()) {
          waiting.remove(blocker);
        }
      }
    }
  }
}
