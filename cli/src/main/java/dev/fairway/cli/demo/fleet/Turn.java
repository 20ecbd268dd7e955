package dev.fairway.cli.demo.fleet;

/**
 * One turn of an agent: a model call, then tools.
 *
 * @param agent id of the agent
 * @param role role under which it asks for admission
 * @param index number of the turn, from 0
 * @param task number of its task, from 0
 * @param place where in its task it stands
 * @param inputTokens input of the model call
 * @param estimatedInputTokens what the agent takes it for before the call: its tokenizer is off by
 *     a few percent
 * @param outputTokens output that the model will produce
 * @param maxTokens what the agent allows as output
 * @param toolMs time of the tools after the call
 */
public record Turn(
    String agent,
    String role,
    int index,
    int task,
    Place place,
    long inputTokens,
    long estimatedInputTokens,
    long outputTokens,
    long maxTokens,
    double toolMs) {

  /**
   * Where in its task a turn stands.
   *
   * @param first whether the task begins with it
   * @param last whether the task is finished with it
   */
  public record Place(boolean first, boolean last) {

    static Place of(int index, int turnsPerTask) {
      return new Place(index % turnsPerTask == 0, index % turnsPerTask == turnsPerTask - 1);
    }
  }

  /**
   * Input for which the agent asks: its guess and a tenth more, twice what its tokenizer is usually
   * off by. Settlement gives back what was too much; what was too little may already be a 429.
   */
  public long requestedInputTokens() {
    return estimatedInputTokens + estimatedInputTokens / 10;
  }

  /** Id of the turn, unique in the fleet. */
  public String id() {
    return agent + "." + index;
  }

  /** Id of one try of this turn's call, from 1. */
  public String callId(int attempt) {
    return id() + "." + attempt;
  }

  /** Id of the task, unique in the fleet. */
  public String taskId() {
    return agent + ".task-" + task;
  }
}
