package dev.fairway.admission.engine.alert;

/** What an alert says. Names are part of the protocol. */
public enum AlertKind {
  /** Estimates of a role or an agent were off by more than 20 % for 5 minutes. */
  ESTIMATE_ERROR,
  /** The margin lies at its floor for 10 minutes: the limit is not what it seems to be. */
  MARGIN_AT_FLOOR,
  /** Somebody outside takes more than a tenth of a limit. */
  OUTSIDE_USE,
  /** 429s come in waves, not one independent of the other. */
  REFUSALS_IN_WAVES,
  /** There are more requests than before, and fewer of them succeed. */
  FEWER_SUCCESSES,
  /** There are more 429s than tasks. */
  MORE_REFUSALS_THAN_TASKS,
  /** Retries spend more than a tenth of the input tokens. */
  RETRY_SPEND
}
