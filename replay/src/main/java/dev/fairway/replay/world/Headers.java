package dev.fairway.replay.world;

import java.util.Map;

/**
 * What an answer of the provider tells about its limits: its state when the call was admitted or
 * refused.
 *
 * @param readings by dimension; empty where the provider tells nothing
 */
public record Headers(Map<Dimension, Reading> readings) {

  /** Nothing told. */
  static final Headers NONE = new Headers(Map.of());

  /**
   * One limit.
   *
   * @param limit per minute
   * @param remaining what was left, not below 0
   * @param resetMs until all of it is there again
   */
  public record Reading(long limit, long remaining, long resetMs) {}
}
