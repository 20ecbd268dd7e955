package dev.fairway.agent;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes request ids that no other process and no restart of this one makes again: 96 random bits,
 * drawn once, and a counter. Thread-safe.
 */
public final class RequestIds {
  private static final int RANDOM_BYTES = 12;

  private final String prefix;
  private final AtomicLong next = new AtomicLong();

  /** With a random prefix of its own. */
  public RequestIds() {
    this(randomBytes());
  }

  RequestIds(byte[] random) {
    // A trailing hyphen or dot could be taken for punctuation in a log line; the letter cannot.
    this.prefix = "r" + Base64.getUrlEncoder().withoutPadding().encodeToString(random) + ".";
  }

  /** How every id begins that this makes, and none that another one makes. */
  String prefix() {
    return prefix;
  }

  /** The next id: at most 33 characters of the request id grammar. */
  public String next() {
    return prefix + Long.toString(next.incrementAndGet(), Character.MAX_RADIX);
  }

  private static byte[] randomBytes() {
    byte[] bytes = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(bytes);
    return bytes;
  }
}
