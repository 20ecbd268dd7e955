package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.GatewayConfig.Caller;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls by their idempotency keys, so that a client that comes back with the same key gets its
 * place back, or the answer that it missed, and the provider one call in all. {@value #CALLS_MAX}
 * are kept; beyond, the oldest that is over goes, and if none is over a new call gets no place to
 * come back to. Thread-safe.
 */
final class PlaceBook {
  static final int CALLS_MAX = 2_000;
  static final int KEY_LENGTH_MAX = 255;

  private record Key(String caller, String key) {}

  private final Map<Key, ProxiedCall> calls = new LinkedHashMap<>();

  /** Whether this may be a key. */
  static boolean isKey(String key) {
    return key != null && !key.isBlank() && key.length() <= KEY_LENGTH_MAX;
  }

  /**
   * The call with this key, if it is still of use; else the new one, which is kept under it from
   * now on; null if there is no room for it.
   */
  synchronized ProxiedCall findOrKeep(Caller caller, String key, ProxiedCall made) {
    Key of = new Key(caller.name(), key);
    ProxiedCall known = calls.get(of);
    if (known != null && known.isOfUse()) {
      return known;
    }
    calls.remove(of);
    if (calls.size() >= CALLS_MAX && !makeRoom()) {
      return null;
    }
    calls.put(of, made);
    return made;
  }

  /** Forgets a call. */
  synchronized void remove(ProxiedCall call) {
    calls.values().remove(call);
  }

  /** Tells every call that the gateway stops. */
  void drain() {
    List<ProxiedCall> all;
    synchronized (this) {
      all = List.copyOf(calls.values());
    }
    all.forEach(ProxiedCall::drain);
  }

  private boolean makeRoom() {
    Iterator<ProxiedCall> oldest = calls.values().iterator();
    while (oldest.hasNext()) {
      ProxiedCall call = oldest.next();
      if (call.isOver()) {
        oldest.remove();
        call.forget();
        return true;
      }
    }
    return false;
  }
}
