package dev.fairway.agent.provider;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** Short ways to an answer of a provider, and to what is read from it. */
final class Answers {
  static final Instant NOW = Instant.parse("2026-08-27T11:10:53Z");

  private final Map<String, String> headers = new LinkedHashMap<>();
  private Integer status;
  private ResponseBody body = ResponseBody.none();
  private Instant now = NOW;

  private Answers(Integer status) {
    this.status = status;
  }

  static Answers answer(Integer status) {
    return new Answers(status);
  }

  Answers header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  Answers body(String json) {
    // A body is easier to read in a test with single quotes.
    body = ResponseBody.of(json.replace('\'', '"'));
    return this;
  }

  Answers at(Instant instant) {
    now = instant;
    return this;
  }

  ProviderResponse response() {
    return new ProviderResponse(status, ResponseHeaders.of(headers), body, now);
  }

  ProviderReading readBy(String provider) {
    return ProviderProfiles.of(provider).read(response());
  }

  static ProviderReading stream(String provider, String sse) {
    ProviderStream stream = ProviderProfiles.of(provider).stream(answer(200).response());
    byte[] bytes = sse.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    stream.read(bytes, 0, bytes.length);
    return stream.end();
  }
}
