package dev.fairway.agent.gateway;

/**
 * Paths as clients make them of their base URL: with {@code /v1} in it or not, twice or not at all,
 * with a slash too many in between or at the end. What a call is for is plain in all of them; none
 * may go by uncounted for how it is written.
 */
final class ApiPaths {
  private static final String VERSION = "/v1";

  private ApiPaths() {}

  /** The path that the documents have for a call; one that is for none of them as it is. */
  static String canonical(String path) {
    String plain = path.replaceAll("/{2,}", "/");
    plain =
        plain.length() > 1 && plain.endsWith("/") ? plain.substring(0, plain.length() - 1) : plain;
    String call = plain;
    while (call.startsWith(VERSION + "/")) {
      call = call.substring(VERSION.length());
    }
    String versioned = VERSION + call;
    if (Endpoint.isPath(versioned) || LeaseApi.isOwn(versioned)) {
      return versioned;
    }
    return LeaseApi.isOwn(plain) ? plain : path;
  }
}
