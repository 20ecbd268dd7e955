package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.GatewayConfig.Mode;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Where modes are kept that were switched at run time, so that gateways beside each other and later
 * ones go by them. Thread-safe.
 */
public interface ModeStore {
  /** Quotas that may have been switched; one more is refused. */
  int QUOTAS_MAX = 1_000;

  /**
   * Tells all switched modes by quota id, before this returns and whenever they change; called once
   * by each gateway.
   *
   * @param listener must not block; called by one thread at a time
   */
  void follow(Consumer<Map<String, Mode>> listener);

  /**
   * Switches a quota.
   *
   * @param mode null: it is switched no more, and each gateway goes by its configuration
   * @return completes once it is kept, or exceptionally if it is not, with a message for people
   */
  CompletableFuture<Void> put(String quota, Mode mode);

  /** One in this process's memory, for a gateway by itself. */
  static ModeStore inMemory() {
    return new ModeStore() {
      private final Map<String, Mode> switched = new TreeMap<>();
      private Consumer<Map<String, Mode>> listener = modes -> {};

      @Override
      public synchronized void follow(Consumer<Map<String, Mode>> modes) {
        listener = modes;
        listener.accept(Map.copyOf(switched));
      }

      @Override
      public synchronized CompletableFuture<Void> put(String quota, Mode mode) {
        if (mode == null) {
          switched.remove(quota);
        } else {
          switched.put(quota, mode);
        }
        listener.accept(Map.copyOf(switched));
        return CompletableFuture.completedFuture(null);
      }
    };
  }
}
