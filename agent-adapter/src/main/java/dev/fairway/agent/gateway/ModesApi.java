package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.gateway.ApiInput.BadInputException;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.gateway.LeaseApi.Answer;
import dev.fairway.schemas.Ids;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;

/** What the gateway does with the calls of each quota, for operators. Thread-safe. */
final class ModesApi {
  private static final String ROOT = "/fairway";
  private static final String MODES = ROOT + "/modes";

  private final Modes modes;
  private final Observations observations;

  ModesApi(Modes modes, Observations observations) {
    this.modes = modes;
    this.observations = observations;
  }

  /** Whether a path is one of these calls, or of no upstream's for another reason. */
  static boolean isOwn(String path) {
    return path.equals(ROOT) || path.startsWith(ROOT + "/");
  }

  /**
   * Handles a call.
   *
   * @throws BadInputException if its body is not as it should be
   */
  CompletableFuture<Answer> handle(String method, String path, byte[] body, Caller caller)
      throws BadInputException {
    if (!caller.operator()) {
      return error(403, "Expected a caller that is an operator.");
    }
    if (path.equals(MODES) && method.equals("GET")) {
      return CompletableFuture.completedFuture(new Answer(200, all(), null));
    }
    String quota = path.startsWith(MODES + "/") ? path.substring(MODES.length() + 1) : "";
    boolean unset = method.equals("DELETE");
    if ((!method.equals("PUT") && !unset) || !Ids.isQuotaId(quota)) {
      return error(
          404,
          "Expected GET "
              + MODES
              + ", or PUT or DELETE "
              + MODES
              + "/{quota id} to set or unset one.");
    }
    // What was switched once can be unset, though no route names it any more.
    if (!modes.isOfARoute(quota) && !(unset && modes.isSwitched(quota))) {
      return error(404, "Expected the quota of a route, but found '" + quota + "'.");
    }
    if (unset) {
      return switched(quota, null);
    }
    ApiInput in = ApiInput.of(LeaseApi.read(body));
    Mode mode = in.constant("mode", Mode.class, EnumSet.allOf(Mode.class));
    in.end();
    if (!modes.hasRoomFor(quota)) {
      return error(503, "Too many quotas have a mode of their own.");
    }
    return switched(quota, mode);
  }

  private ObjectNode all() {
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    answer.put("mode", modes.standard().name());
    ObjectNode quotas = answer.putObject("quotas");
    modes.all().forEach((quota, mode) -> quotas.put(quota, mode.name()));
    ObjectNode observed = answer.putObject("observed");
    observations
        .all()
        .forEach(
            (quota, sums) ->
                observed
                    .putObject(quota)
                    .put("calls", sums.calls())
                    .put("rate_limited", sums.rateLimited())
                    .put("rate_limited_admitted", sums.rateLimitedAdmitted())
                    .put("rate_limited_tokens", sums.rateLimitedTokens()));
    return answer;
  }

  /** Null: as configured. */
  private CompletableFuture<Answer> switched(String quota, Mode mode) {
    return modes
        .set(quota, mode)
        .handle(
            (done, failure) -> {
              if (failure != null) {
                Throwable why = failure.getCause() == null ? failure : failure.getCause();
                return LeaseApi.error(503, "The switch was not taken: " + why.getMessage(), null);
              }
              ObjectNode answer = JsonNodeFactory.instance.objectNode();
              answer.put("quota", quota);
              answer.put("mode", (mode == null ? modes.configured(quota) : mode).name());
              return new Answer(200, answer, null);
            });
  }

  private static CompletableFuture<Answer> error(int status, String message) {
    return CompletableFuture.completedFuture(LeaseApi.error(status, message, null));
  }
}
