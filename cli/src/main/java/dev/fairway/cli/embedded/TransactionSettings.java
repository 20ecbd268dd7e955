package dev.fairway.cli.embedded;

import java.util.Map;

/**
 * Broker settings that an early commit needs. On the defaults (20 ms, 100 ms and adaptive), a
 * transaction that starts right after the last one waits for its markers in steps far longer than
 * the transaction itself.
 */
public final class TransactionSettings {

  /**
   * Broker settings by name, as measured with exactly-once processing that commits whenever a batch
   * is used up.
   */
  public static final Map<String, String> RECOMMENDED =
      Map.of(
          "add.partitions.to.txn.retry.backoff.ms", "1",
          "add.partitions.to.txn.retry.backoff.max.ms", "5",
          "group.coordinator.append.linger.ms", "0");

  private TransactionSettings() {}
}
