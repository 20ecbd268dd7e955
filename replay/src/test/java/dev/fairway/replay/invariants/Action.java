package dev.fairway.replay.invariants;

/**
 * One thing that agents, operators or time do. The numbers are drawn without knowing the state, and
 * taken modulo whatever there is to choose from: so any list of actions runs, and shrinks well.
 */
record Action(Kind kind, long delayMs, int a, int b, int c, int d) {
  enum Kind {
    REQUEST,
    REQUEST_AGAIN,
    RETRY,
    SETTLE,
    SETTLE_WITH_SIGNAL,
    REFUSED,
    RENEW,
    GIVE_BACK,
    CANCEL,
    UNLEASED,
    REDEFINE,
    TASK,
    PASS
  }
}
