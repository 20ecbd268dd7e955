package dev.fairway.agent.provider;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * OpenRouter: an error carries its headers in the body, under {@code error.metadata.headers}, and
 * may arrive inside a 200.
 */
final class OpenRouterProfile extends BaseProfile {
  OpenRouterProfile() {
    super("openrouter");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    return RateLimitHeaders.read(headers, now, Reset::epochOrDuration, Map.of());
  }

  @Override
  ResponseHeaders headersInBody(ProviderError error) {
    ResponseHeaders.Builder headers = ResponseHeaders.builder();
    for (Map.Entry<String, JsonNode> header :
        error.json().path("metadata").path("headers").properties()) {
      if (header.getValue().isValueNode()) {
        headers.add(header.getKey(), header.getValue().asText());
      }
    }
    return headers.build();
  }
}
