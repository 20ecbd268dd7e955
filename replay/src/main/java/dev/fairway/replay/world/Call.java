package dev.fairway.replay.world;

/**
 * One model call that an agent wants, from the wish to the end. What its agent knows of it is
 * marked; the rest is truth, for the provider and for whoever may know it.
 */
public final class Call {
  private final long number;
  private final Caller caller;
  private final String taskId;
  private final Work.Turn turn;
  private final boolean replan;
  private final PromptPrefix prefix;
  private final long wantedAtMs;
  private long sentAtMs;
  private int refusals;
  private long charged;
  private boolean lost;

  Call(
      long number,
      Caller caller,
      String taskId,
      Work.Turn turn,
      boolean replan,
      PromptPrefix prefix,
      long wantedAtMs) {
    this.number = number;
    this.caller = caller;
    this.taskId = taskId;
    this.turn = turn;
    this.replan = replan;
    this.prefix = prefix;
    this.wantedAtMs = wantedAtMs;
  }

  /** Number of the call in its run, from 0; known to its agent. */
  public long number() {
    return number;
  }

  /** Its agent, from 0. */
  public int agentIndex() {
    return caller.index();
  }

  /** Its agent; known. */
  public String agentId() {
    return caller.id();
  }

  /** Role of its agent; known. */
  public Role role() {
    return caller.role();
  }

  /** Task it belongs to; known. */
  public String taskId() {
    return taskId;
  }

  /** Tasks that wait for its task; known to the orchestrator. */
  public int unblocks() {
    return caller.unblocks();
  }

  /** Whether it is part of planning again, and not a turn; known. */
  public boolean isReplan() {
    return replan;
  }

  /** When its agent wanted it first; known. */
  public long wantedAtMs() {
    return wantedAtMs;
  }

  /** When it was last sent; known. */
  public long sentAtMs() {
    return sentAtMs;
  }

  /** How often the provider refused it; known. */
  public int refusals() {
    return refusals;
  }

  /** Input that is in no cache: the truth. */
  public long newInput() {
    return turn.newInput();
  }

  /** Output that it will have: the truth. */
  public long output() {
    return turn.output();
  }

  /** Time it takes from its arrival at the provider to its end: the truth. */
  public long durationMs() {
    return turn.latencyMs() + Work.outputMs(turn.output());
  }

  /** Input that counts if it arrives at the provider then: the truth. */
  public long countedInput(long atMs) {
    return turn.newInput() + (prefix == null || prefix.isWarm(atMs) ? 0 : prefix.tokens());
  }

  /** Prefix that it reads from the cache, or writes to it again; known. */
  public long prefixTokens() {
    return prefix == null ? 0 : prefix.tokens();
  }

  /** When its agent thinks the cached prefix ends, or 0 where there is none; known. */
  public long cacheEndsAtMs() {
    return prefixTokens() == 0 ? 0 : prefix.endsAtMs();
  }

  /** Its agent's estimate of the new input, at least 1; known. */
  public long estimatedInput() {
    return Math.max(1, Math.round(turn.newInput() * turn.estimateFactor()));
  }

  /** Input that counted when the provider admitted it; known from the first token on. */
  public long charged() {
    return charged;
  }

  /** Whether its agent died in the middle. */
  public boolean isLost() {
    return lost;
  }

  Work.Turn turn() {
    return turn;
  }

  PromptPrefix prefix() {
    return prefix;
  }

  void sent(long atMs) {
    sentAtMs = atMs;
  }

  void admitted(long input) {
    charged = input;
  }

  void lose() {
    lost = true;
  }

  void refused() {
    refusals++;
  }

  void forgetRefusals() {
    refusals = 0;
  }
}
