package dev.fairway.schemas.serde;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that forgets what was not used for longest once it is full. Thread-safe. */
final class BoundedCache<K, V> {

  private final Map<K, V> entries;

  BoundedCache(int entriesMax) {
    this.entries =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > entriesMax;
          }
        };
  }

  /** The value, or null. */
  synchronized V get(K key) {
    return entries.get(key);
  }

  synchronized void put(K key, V value) {
    entries.put(key, value);
  }

  synchronized void remove(K key) {
    entries.remove(key);
  }

  synchronized int size() {
    return entries.size();
  }
}
