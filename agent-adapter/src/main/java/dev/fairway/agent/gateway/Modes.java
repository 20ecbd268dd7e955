package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.GatewayConfig.Mode;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** What the gateway does with the calls of each quota; changes take effect with the next call. */
final class Modes {
  /** Quotas told apart; one more is refused. */
  static final int QUOTAS_MAX = 10_000;

  private final Mode standard;
  private final Map<String, Mode> byQuota;

  Modes(GatewayConfig config) {
    this.standard = config.mode();
    this.byQuota = new ConcurrentHashMap<>(config.modes());
  }

  /** The mode of a quota. */
  Mode of(String quota) {
    return byQuota.getOrDefault(quota, standard);
  }

  /** The mode of quotas that have none of their own. */
  Mode standard() {
    return standard;
  }

  /** Quotas with a mode of their own. */
  Map<String, Mode> all() {
    return new TreeMap<>(byQuota);
  }

  /** Gives a quota a mode; false if too many have one. */
  boolean set(String quota, Mode mode) {
    if (byQuota.size() >= QUOTAS_MAX && !byQuota.containsKey(quota)) {
      return false;
    }
    byQuota.put(quota, mode);
    return true;
  }
}
