package dev.fairway.it.crash;

/** Where a record lies. */
record Coordinates(String topic, int partition, long offset) {}
