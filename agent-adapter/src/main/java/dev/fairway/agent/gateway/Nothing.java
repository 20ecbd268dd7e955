package dev.fairway.agent.gateway;

import dev.fairway.agent.UsageReport;

/**
 * The usage of a call that the provider refused for what it says: none, as far as anybody knows.
 */
final class Nothing {
  static final UsageReport USED = new UsageReport(0L, 0L, 0L, 0L, false);

  private Nothing() {}
}
