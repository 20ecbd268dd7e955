package dev.fairway.cli.demo.fleet;

/**
 * One call to the provider.
 *
 * @param id unique in a run
 * @param turn the turn it serves
 * @param inputTokens exact input
 * @param outputTokens what the model will produce
 * @param previous id of the request that it repeats after a failure, or null
 */
public record ModelCall(
    String id, Turn turn, long inputTokens, long outputTokens, String previous) {

  /** The call of a turn. */
  static ModelCall of(Turn turn, int attempt, String previous) {
    return new ModelCall(
        turn.callId(attempt), turn, turn.inputTokens(), turn.outputTokens(), previous);
  }
}
