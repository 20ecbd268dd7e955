package dev.fairway.dispatcher;

import java.util.Locale;

/** Why a decision is not delivered. Each is counted under its {@link #label()}. */
enum DropReason {
  /** The agent id is out of its grammar, so it has no topic. */
  INVALID_AGENT,
  /** The agent is not registered, and agents may not register themselves. */
  UNREGISTERED,
  /** The agent was retired, and this decision answers no new request of its own. */
  RETIRED,
  /** As many agents are registered as the dispatcher takes. */
  REGISTRY_FULL,
  /** The registration names a topic that the dispatcher must not write. */
  BAD_ROUTE,
  /** No topic took it until its deadline, or it was too old to tell its agent anything. */
  EXPIRED,
  /** More replies of this agent were parked than one agent may have; the oldest went. */
  AGENT_PARKING_FULL,
  /** More replies were parked than the dispatcher takes; the oldest went. */
  PARKING_FULL,
  /** The reply topic does not take a record of this size. */
  TOO_LARGE;

  /** The value of the metric's label. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
