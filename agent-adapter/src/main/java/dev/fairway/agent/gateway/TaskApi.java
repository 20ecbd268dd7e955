package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.gateway.ApiInput.BadInputException;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.LeaseApi.Answer;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.TaskState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Takes what orchestrators tell of their tasks: one, or a graph of them in one call. */
final class TaskApi {
  /** Most tasks in one call. */
  static final int TASKS_MAX = 1_000;

  private final Admission admission;

  TaskApi(Admission admission) {
    this.admission = admission;
  }

  private record Update(String id, String role, TaskState state, List<String> blockedOn) {}

  /** Handles a call; of several tasks all are checked before the first is told. */
  CompletableFuture<Answer> handle(ApiInput in, Caller caller) throws BadInputException {
    String quota = in.text("quota");
    if (!Ids.isQuotaId(quota)) {
      throw new BadInputException("Expected a quota id `key` or `key/name` in \"quota\".");
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    List<Update> updates = new ArrayList<>();
    JsonNode several = in.json().path("tasks");
    if (several.isMissingNode()) {
      Update one = update(in);
      in.end();
      updates.add(one);
      body.put("id", one.id()).put("state", one.state().name());
    } else {
      if (!several.isArray() || several.isEmpty() || several.size() > TASKS_MAX) {
        throw new BadInputException("Expected 1 to " + TASKS_MAX + " tasks in \"tasks\".");
      }
      in.end("tasks");
      for (JsonNode task : several) {
        ApiInput fields = ApiInput.of(task);
        updates.add(update(fields));
        fields.end();
      }
      body.put("tasks", updates.size());
    }
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
            id("id", in.text("id")),
            in.textOrNull("role"),
            in.constant("state", TaskState.class, EnumSet.allOf(TaskState.class)),
            in.texts("blocked_on"));
    if (update.role() != null) {
      id("role", update.role());
    }
    for (String task : update.blockedOn()) {
      id("blocked_on", task);
    }
    return update;
  }

  private static String id(String field, String id) throws BadInputException {
    if (!Ids.isId(id)) {
      throw new BadInputException(
          "Expected an id of 1 to 100 characters A-Z a-z 0-9 . _ : - in \"" + field + "\".");
    }
    return id;
  }

  private CompletableFuture<Void> tell(String quota, Update update, Caller caller) {
    return admission.task(
        Identification.within(caller, "orchestrator"),
        quota,
        Identification.within(caller, update.id()),
        update.role(),
        update.state(),
        update.blockedOn().stream().map(id -> Identification.within(caller, id)).toList());
  }
}
