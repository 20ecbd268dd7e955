package dev.fairway.agent.checkpoint;

import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.provider.Credentials;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The exact call that comes next: what is asked of the coordinator, and what is sent to the
 * provider then. Credentials don't belong in it. Immutable.
 */
public final class NextCall {
  /** Longest body. */
  public static final int BODY_BYTES_MAX = 32 << 20;

  private static final int HEADERS_MAX = 100;
  private static final int HEADER_NAME_CHARS_MAX = 1_000;

  private final LeaseCall call;
  private final String method;
  private final String path;
  private final Map<String, String> headers;
  private final byte[] body;

  private NextCall(
      LeaseCall call, String method, String path, Map<String, String> headers, byte[] body) {
    this.call = call;
    this.method = method;
    this.path = path;
    this.headers = headers;
    this.body = body;
  }

  /**
   * A call without headers of its own.
   *
   * @param call what is asked for; with a request id ({@link LeaseCall.Builder#requestId}), so that
   *     asking again after a restart is asking for the same
   * @param method HTTP method, or the name of the operation
   * @param path where it goes at the provider, without a key in it
   * @param body what is sent
   */
  public static NextCall of(LeaseCall call, String method, String path, byte[] body) {
    return of(call, method, path, Map.of(), body);
  }

  /** The same with headers, such as an {@code idempotency-key}. */
  public static NextCall of(
      LeaseCall call, String method, String path, Map<String, String> headers, byte[] body) {
    if (call == null || call.requestId() == null) {
      throw new IllegalArgumentException(
          "Expected a lease call with a request id in a checkpoint, but found none. Name one with"
              + " LeaseCall.Builder.requestId(client.newRequestId()).");
    }
    Checkpoint.text("a method", method);
    Checkpoint.text("a path", path);
    if (Credentials.inAddress(path) != null) {
      throw credentials(Credentials.inAddress(path) + " in the path");
    }
    if (body == null || body.length > BODY_BYTES_MAX) {
      throw new IllegalArgumentException(
          "Expected a body of at most "
              + BODY_BYTES_MAX
              + " bytes, but found "
              + (body == null ? "none" : body.length)
              + ".");
    }
    TreeMap<String, String> copied = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    copied.putAll(headers);
    if (copied.size() > HEADERS_MAX) {
      throw new IllegalArgumentException(
          "Expected at most " + HEADERS_MAX + " headers, but found " + copied.size() + ".");
    }
    for (Map.Entry<String, String> header : copied.entrySet()) {
      if (header.getKey().length() > HEADER_NAME_CHARS_MAX) {
        throw new IllegalArgumentException(
            "Expected names of headers of at most "
                + HEADER_NAME_CHARS_MAX
                + " characters, but found one of "
                + header.getKey().length()
                + ".");
      }
      Checkpoint.text("a header", header.getValue());
      if (Credentials.isHeader(header.getKey())) {
        throw credentials("header " + header.getKey());
      }
    }
    return new NextCall(call, method, path, copied, body.clone());
  }

  private static IllegalArgumentException credentials(String found) {
    return new IllegalArgumentException(
        "Expected no credentials in a checkpoint, but found "
            + found
            + ". Add it when the call is sent.");
  }

  /**
   * What is asked of the coordinator. After a restart it has neither listener nor retry budget,
   * which are the process's.
   */
  public LeaseCall call() {
    return call;
  }

  /** HTTP method, or the name of the operation. */
  public String method() {
    return method;
  }

  /** Where it goes at the provider. */
  public String path() {
    return path;
  }

  /** Headers by name, in any case; a copy. */
  public Map<String, String> headers() {
    TreeMap<String, String> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    copy.putAll(headers);
    return copy;
  }

  /** What is sent, byte for byte; a copy. */
  public byte[] body() {
    return body.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NextCall that
        && CheckpointJson.lease(call).equals(CheckpointJson.lease(that.call))
        && method.equals(that.method)
        && path.equals(that.path)
        && headers.equals(that.headers)
        && Arrays.equals(body, that.body);
  }

  @Override
  public int hashCode() {
    return Objects.hash(call.requestId(), method, path, headers, Arrays.hashCode(body));
  }

  @Override
  public String toString() {
    return method + " " + path + " (" + body.length + " bytes, request " + call.requestId() + ")";
  }
}
