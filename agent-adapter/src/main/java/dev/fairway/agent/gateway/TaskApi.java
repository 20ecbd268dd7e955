package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.gateway.ApiInput.BadInputException;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.LeaseApi.Answer;
import dev.fairway.agent.task.TaskGraph;
import dev.fairway.schemas.TaskState;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Takes what orchestrators tell of their tasks: one, or a graph of them in one call. */
final class TaskApi {
  /** Most tasks in one call. */
  static final int TASKS_MAX = 1_000;

  /** Most tasks of a circle that an error names. */
  private static final int CIRCLE_SHOWN_MAX = 10;

  private final Admission admission;

  TaskApi(Admission admission) {
    this.admission = admission;
  }

  private record Update(String id, String role, TaskState state, List<String> blockedOn) {}

  /**
   * Handles a call; of several tasks all are checked before the first is told. Tasks are those of
   * the caller: two callers may use the same ids, and neither reaches what is the other's.
   */
  CompletableFuture<Answer> handle(ApiInput in, Caller caller) throws BadInputException {
    String quota = in.quotaId("quota");
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    List<Update> updates = new ArrayList<>();
    List<ApiInput> several = in.objectsOrNull("tasks", TASKS_MAX);
    if (several == null && !in.has("id")) {
      throw new BadInputException(
          "Expected a task's \"id\", or a list of them in \"tasks\", but found neither.");
    }
    if (several == null) {
      Update one = update(in);
      updates.add(one);
      body.put("id", one.id()).put("state", one.state().name());
    } else {
      for (ApiInput fields : several) {
        updates.add(update(fields));
        fields.end();
      }
      body.put("tasks", updates.size());
    }
    in.end();
    refuseCircles(updates);
    List<CompletableFuture<Void>> told = new ArrayList<>();
    for (Update update : updates) {
      told.add(tell(quota, update, caller));
    }
    return CompletableFuture.allOf(told.toArray(CompletableFuture<?>[]::new))
        .handle(
            (done, error) ->
                error == null
                    ? new Answer(202, body, null)
                    : LeaseApi.error(
                        503,
                        error.getCause() == null
                            ? error.getMessage()
                            : error.getCause().getMessage(),
                        Duration.ofSeconds(1)));
  }

  private static Update update(ApiInput in) throws BadInputException {
    Update update =
        new Update(
            in.id("id"),
            in.idOrNull("role"),
            in.constant("state", TaskState.class, EnumSet.allOf(TaskState.class)),
            in.ids("blocked_on", TaskGraph.DEPENDENCIES_MAX));
    if (update.state() != TaskState.BLOCKED && !update.blockedOn().isEmpty()) {
      throw new BadInputException(
          "Expected \"blocked_on\" with state BLOCKED alone, but found it with "
              + update.state()
              + ": a task in another state waits for nothing.");
    }
    return update;
  }

  /**
   * What waits for itself would wait for ever. Only what one call tells is known here: circles over
   * several calls are the orchestrator's to avoid.
   */
  private static void refuseCircles(List<Update> updates) throws BadInputException {
    Map<String, List<String>> waits = new HashMap<>();
    for (Update update : updates) {
      waits.put(update.id(), update.blockedOn());
    }
    Map<String, Boolean> left = new HashMap<>();
    for (String start : waits.keySet()) {
      List<String> circle = circle(start, waits, left);
      if (!circle.isEmpty()) {
        throw new BadInputException(
            "Expected tasks that do not wait for themselves, but found "
                + String.join(" blocked on ", circle)
                + ". Leave one of these waits out.");
      }
    }
  }

  /** The circle that a walk from a task runs into, from a task to that task again, or nothing. */
  private static List<String> circle(
      String start, Map<String, List<String>> waits, Map<String, Boolean> left) {
    // On the way while false, left when true. By hand: a chain may be longer than a thread's stack.
    Deque<String> path = new ArrayDeque<>();
    Deque<Iterator<String>> next = new ArrayDeque<>();
    next.push(List.of(start).iterator());
    while (!next.isEmpty()) {
      if (!next.peek().hasNext()) {
        next.pop();
        if (!path.isEmpty()) {
          left.put(path.pop(), true);
        }
        continue;
      }
      String task = next.peek().next();
      Boolean seen = left.get(task);
      if (Boolean.FALSE.equals(seen)) {
        List<String> circle = new ArrayList<>(List.of(task));
        for (String waiting : path) {
          circle.add(0, waiting);
          if (waiting.equals(task)) {
            break;
          }
        }
        return circle.subList(0, Math.min(circle.size(), CIRCLE_SHOWN_MAX));
      }
      if (seen == null) {
        left.put(task, false);
        path.push(task);
        next.push(waits.getOrDefault(task, List.of()).iterator());
      }
    }
    return List.of();
  }

  private CompletableFuture<Void> tell(String quota, Update update, Caller caller) {
    return admission.task(
        Identification.within(caller, "orchestrator"),
        quota,
        Identification.within(caller, update.id()),
        Identification.role(caller, update.role()),
        update.state(),
        update.blockedOn().stream().map(id -> Identification.within(caller, id)).toList());
  }
}
