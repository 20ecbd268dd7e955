package dev.fairway.agent;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that forgets its oldest entry when it is full. Not thread-safe. */
final class BoundedMap<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1L;

  private final int sizeMax;

  BoundedMap(int sizeMax) {
    this.sizeMax = sizeMax;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > sizeMax;
  }
}
