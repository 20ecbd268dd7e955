package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.GatewayConfig.Mode;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * What the gateway does with the calls of each quota: what it was switched to, else what its
 * configuration says. Changes take effect with the next call.
 */
final class Modes {
  private final GatewayConfig config;
  private final ModeStore store;
  private volatile Map<String, Mode> switched = Map.of();

  Modes(GatewayConfig config, ModeStore store) {
    this.config = config;
    this.store = store;
    store.follow(modes -> switched = Map.copyOf(modes));
  }

  /** The mode of a quota. */
  Mode of(String quota) {
    Mode mode = switched.get(quota);
    return mode == null ? configured(quota) : mode;
  }

  /** The mode that a quota has unless it is switched. */
  Mode configured(String quota) {
    return config.modes().getOrDefault(quota, config.mode());
  }

  /** The mode of quotas that have none of their own. */
  Mode standard() {
    return config.mode();
  }

  /** Quotas with a mode of their own. */
  Map<String, Mode> all() {
    Map<String, Mode> all = new TreeMap<>(config.modes());
    all.putAll(switched);
    return all;
  }

  /** Whether any call goes through the quota. */
  boolean isOfARoute(String quota) {
    return config.routes().stream().anyMatch(route -> quota.equals(route.quota()));
  }

  /** Whether a quota was switched. */
  boolean isSwitched(String quota) {
    return switched.containsKey(quota);
  }

  /** Whether another quota may be switched. */
  boolean hasRoomFor(String quota) {
    Map<String, Mode> now = switched;
    return now.containsKey(quota) || now.size() < ModeStore.QUOTAS_MAX;
  }

  /**
   * Switches a quota, here and at every gateway that follows the same store.
   *
   * @param mode null: to what is configured
   */
  CompletableFuture<Void> set(String quota, Mode mode) {
    return store.put(quota, mode);
  }
}
