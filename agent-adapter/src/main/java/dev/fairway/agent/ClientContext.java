package dev.fairway.agent;

/** What all parts of one client share. */
record ClientContext(
    AdmissionClientConfig config,
    Timers timers,
    Outbox outbox,
    Completions completions,
    UnleasedReports reports,
    Counters counters) {

  ClientContext(
      AdmissionClientConfig config,
      Timers timers,
      Outbox outbox,
      Completions completions,
      Counters counters) {
    this(config, timers, outbox, completions, new UnleasedReports(outbox, counters), counters);
  }
}
