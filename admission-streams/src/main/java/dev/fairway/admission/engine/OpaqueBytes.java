package dev.fairway.admission.engine;

import java.util.Arrays;
import java.util.HexFormat;

/** Bytes that are carried and never read, with value equality. */
public final class OpaqueBytes {
  private final byte[] bytes;

  /** Takes a copy. */
  public OpaqueBytes(byte[] bytes) {
    this.bytes = bytes.clone();
  }

  /** A copy of the bytes. */
  public byte[] toArray() {
    return bytes.clone();
  }

  /** Number of bytes. */
  public int length() {
    return bytes.length;
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof OpaqueBytes other && Arrays.equals(bytes, other.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}
