package dev.fairway.admission;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;

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

  /**
   * Says which settings of a broker are slower than recommended, a line each, for people; those
   * that it does not have say nothing.
   *
   * @param broker its id
   */
  public static List<String> warnings(String broker, Config config) {
    List<String> warnings = new ArrayList<>();
    for (Map.Entry<String, String> setting : new TreeMap<>(RECOMMENDED).entrySet()) {
      ConfigEntry found = config.get(setting.getKey());
      if (found != null && isSlower(found.value(), setting.getValue())) {
        warnings.add(
            "Expected %s=%s on broker %s, but found %s: each decision takes tens of milliseconds longer than it has to. Set it in the broker's server.properties."
                .formatted(setting.getKey(), setting.getValue(), broker, found.value()));
      }
    }
    return warnings;
  }

  private static boolean isSlower(String found, String recommended) {
    try {
      // -1 is "adaptive", which waits for a batch that does not come.
      long value = Long.parseLong(found);
      return value < 0 || value > Long.parseLong(recommended);
    } catch (NumberFormatException e) {
      return false;
    }
  }
}
