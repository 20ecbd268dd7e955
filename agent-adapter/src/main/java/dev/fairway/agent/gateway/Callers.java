package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.GatewayConfig.Caller;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpFields;

/** Knows callers by their tokens. Thread-safe. */
final class Callers {
  @SuppressWarnings("ArrayRecordComponent") // Never compared as a whole.
  private record Known(Caller caller, byte[] token) {}

  /** Where a token may stand, ours first; a header that comes twice counts twice. */
  private static final List<String> HEADERS =
      List.of("x-fairway-token", "authorization", "x-api-key", "api-key");

  private static final String BEARER = "Bearer ";

  private final List<Known> known;

  Callers(List<Caller> callers, Map<String, String> environment) {
    known = callers.stream().map(c -> new Known(c, bytes(c.token().resolve(environment)))).toList();
    for (int i = 0; i < known.size(); i++) {
      Caller first = find(known.get(i).token());
      if (first != known.get(i).caller()) {
        throw new InvalidSettingException(
            "callers[" + i + "].token",
            "Expected a token of its own for each caller, but "
                + known.get(i).caller().name()
                + " and "
                + first.name()
                + " have the same.");
      }
    }
  }

  /** Who sends this; null if a token is needed and none that is known was sent. */
  Caller of(HttpFields headers) {
    if (known.isEmpty()) {
      return Caller.ANYBODY;
    }
    Caller found = null;
    for (String name : HEADERS) {
      for (String value : headers.getValuesList(name)) {
        boolean bearer = value.regionMatches(true, 0, BEARER, 0, BEARER.length());
        String sent = bearer ? value.substring(BEARER.length()).strip() : value.strip();
        boolean token = bearer == name.equals("authorization");
        found = found == null && token ? find(bytes(sent)) : found;
      }
    }
    return found;
  }

  /** Compares with every token, so that the time taken tells nothing. */
  private Caller find(byte[] sent) {
    Caller found = null;
    for (Known candidate : known) {
      if (MessageDigest.isEqual(candidate.token(), sent) && found == null) {
        found = candidate.caller();
      }
    }
    return found;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
