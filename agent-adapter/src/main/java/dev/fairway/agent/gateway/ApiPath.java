package dev.fairway.agent.gateway;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/**
 * The path of a call. What a call is for is decided by what its path means, however that is
 * written: base URLs with {@code /v1} or without, twice, with a slash too many, with escapes. None
 * may go by uncounted for how it is written. What is passed on is the path as it came, since no
 * other spelling need mean the same to its upstream.
 *
 * @param plain the path that the documents have for a call of the gateway's, else the path without
 *     its escapes
 * @param sent what goes upstream: as the client wrote it, or {@code plain} of a call that is known
 * @param trouble why it is not taken, or null
 */
record ApiPath(String plain, String sent, Trouble trouble) {
  private static final String VERSION = "/v1";

  /** As often as anybody on the way may decode a path. */
  private static final int DECODED_MAX = 3;

  /**
   * Reads a path.
   *
   * @param raw as it stands in the request, escaped, without its query; null if there is none
   */
  static ApiPath of(String raw) {
    if (raw == null || !raw.startsWith("/")) {
      return refused(raw, "a path that begins with /");
    }
    if (!raw.chars().allMatch(ApiPath::isVisible)) {
      return refused(raw, "a path in which all but visible ASCII is escaped");
    }
    String decoded;
    try {
      decoded = decoded(raw.replaceAll(";[^/]*", ""));
    } catch (IllegalArgumentException e) {
      return refused(raw, "a path with whole escapes, such as %7C");
    }
    String plain = resolved(decoded);
    String known = plain == null ? null : known(plain);
    if (known != null) {
      return new ApiPath(known, known, null);
    }
    if (plain == null || hasDots(loose(raw))) {
      return refused(raw, "a path without . and .. in it");
    }
    if (isReadAsKnown(raw)) {
      return refused(raw, "the path of a call without anything else in it");
    }
    return new ApiPath(decoded, raw, null);
  }

  /** Whose API it is. */
  ApiFamily family() {
    return ApiFamily.ofPath(plain);
  }

  private static ApiPath refused(String raw, String expected) {
    String path = raw == null ? "" : raw;
    return new ApiPath(
        path,
        path,
        Trouble.badRequest(
            "Expected "
                + expected
                + ", but found "
                + (path.isEmpty() ? "none" : CallPlanner.shown(path))
                + ". Check the base URL."));
  }

  /** The path that the documents have for a call, or null if it is for none. */
  private static String known(String path) {
    String call = path;
    while (call.startsWith(VERSION + "/")) {
      call = call.substring(VERSION.length());
    }
    String versioned = VERSION + call;
    if (Endpoint.isPath(versioned) || LeaseApi.isOwn(versioned)) {
      return versioned;
    }
    return LeaseApi.isOwn(call) || GatewayHandler.isOwn(call) ? call : null;
  }

  /** Whether an upstream that is less strict could take it for a call that the gateway knows. */
  private static boolean isReadAsKnown(String raw) {
    String loose = loose(raw);
    Predicate<String> isKnown =
        path -> {
          String plain = resolved(path);
          return plain != null && known(plain) != null;
        };
    return isKnown.test(loose.replaceAll("[^!-~]", ""))
        || isKnown.test(loose.replaceAll("(?s)(?:[^!-~]|[?#;]).*", ""));
  }

  private static String loose(String raw) {
    String path = raw;
    try {
      for (int i = 0; i < DECODED_MAX; i++) {
        path = decoded(path.replaceAll(";[^/]*", ""));
      }
    } catch (IllegalArgumentException e) {
      // A % that is one: nobody decodes it any further.
    }
    return path.replace('\\', '/').toLowerCase(Locale.ROOT);
  }

  private static String decoded(String path) {
    return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** Without empty segments, {@code .} and {@code ..}; null if it leads out of the root. */
  private static String resolved(String path) {
    List<String> segments = new ArrayList<>();
    for (String segment : path.split("/", -1)) {
      if (segment.equals("..")) {
        if (segments.isEmpty()) {
          return null;
        }
        segments.remove(segments.size() - 1);
      } else if (!segment.isEmpty() && !segment.equals(".")) {
        segments.add(segment);
      }
    }
    return "/" + String.join("/", segments);
  }

  private static boolean hasDots(String path) {
    return List.of(path.split("/", -1)).stream().anyMatch(part -> part.matches("\\.\\.?"));
  }

  private static boolean isVisible(int c) {
    return c > ' ' && c < 0x7F;
  }
}
