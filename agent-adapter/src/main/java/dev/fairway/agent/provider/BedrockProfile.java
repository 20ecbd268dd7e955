package dev.fairway.agent.provider;

import java.time.Instant;
import java.util.List;

/**
 * Amazon Bedrock: no rate-limit headers and no retry-after. Usage has the shape of the model's
 * maker, or Converse's, or is in headers.
 */
final class BedrockProfile extends BaseProfile {
  BedrockProfile() {
    super("bedrock");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    return List.of();
  }

  @Override
  AnswerClass ownClass(Evidence e) {
    if (e.error().is("throttlingexception")) {
      return limitClass(e);
    }
    return e.error().is("serviceunavailableexception", "modelnotreadyexception")
        ? AnswerClass.OVERLOADED
        : null;
  }

  @Override
  Dimension binding(Evidence e) {
    Dimension told = e.binding();
    if (told != null) {
      return told;
    }
    if (e.error().message().startsWith("Too many tokens")) {
      return Dimension.TOKENS;
    }
    return e.error().message().startsWith("Too many requests") ? Dimension.REQUESTS : null;
  }

  @Override
  ProviderUsage usageInHeaders(ResponseHeaders headers) {
    Long input = Numbers.tokens(headers.get("x-amzn-bedrock-input-token-count"));
    Long output = Numbers.tokens(headers.get("x-amzn-bedrock-output-token-count"));
    return input == null && output == null
        ? null
        : new ProviderUsage(
            input,
            Numbers.tokens(headers.get("x-amzn-bedrock-cache-read-input-token-count")),
            Numbers.tokens(headers.get("x-amzn-bedrock-cache-write-input-token-count")),
            output,
            true);
  }
}
