package dev.fairway.agent.estimate;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Hashes that tell contents apart. */
final class Digests {
  private Digests() {}

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
  }
}
