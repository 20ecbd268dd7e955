package dev.fairway.agent;

/** What all parts of one client share. */
record ClientContext(
    AdmissionClientConfig config,
    Timers timers,
    Outbox outbox,
    Completions completions,
    Counters counters) {}
