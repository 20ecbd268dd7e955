package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import dev.fairway.agent.provider.Credentials;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;

/** Which headers go through. */
final class Headers {
  private static final Set<String> HOP_BY_HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");
  private static final Set<String> OWN_BUSINESS =
      Set.of("host", "content-length", "expect", "accept-encoding", "x-fairway-token");
  private static final String OURS = "x-fairway-";

  private Headers() {}

  /**
   * What is sent upstream. Answers are asked for uncompressed: their usage has to be read, and they
   * go through as they come.
   *
   * @param key the upstream's API key, or null to pass the caller's own
   */
  static void toUpstream(HttpFields from, HttpFields.Mutable to, Upstream upstream, String key) {
    to.remove(HttpHeader.USER_AGENT);
    Set<String> named = namedByConnection(from);
    for (HttpField field : from) {
      String name = field.getLowerCaseName();
      if (!HOP_BY_HOP.contains(name)
          && !named.contains(name)
          && !OWN_BUSINESS.contains(name)
          && !name.startsWith(OURS)
          && (key == null || !Credentials.isHeader(name))) {
        to.add(field);
      }
    }
    to.put("accept-encoding", "identity");
    if (key != null && upstream.provider().equals("anthropic")) {
      to.put("x-api-key", key);
    } else if (key != null && upstream.provider().equals("azure")) {
      to.put("api-key", key);
    } else if (key != null) {
      to.put("authorization", "Bearer " + key);
    }
  }

  /** What is sent to the client. */
  static void toClient(HttpFields from, HttpFields.Mutable to, boolean lengthHolds) {
    Set<String> named = namedByConnection(from);
    for (HttpField field : from) {
      String name = field.getLowerCaseName();
      boolean passes = !HOP_BY_HOP.contains(name) && !named.contains(name);
      if (passes && (lengthHolds || !name.equals("content-length"))) {
        to.add(field);
      }
    }
  }

  private static Set<String> namedByConnection(HttpFields fields) {
    List<String> names = fields.getCSV(HttpHeader.CONNECTION, false);
    Set<String> lower = new HashSet<>();
    names.forEach(name -> lower.add(name.toLowerCase(Locale.ROOT)));
    return lower;
  }
}
