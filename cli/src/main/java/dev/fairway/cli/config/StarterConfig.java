package dev.fairway.cli.config;

import dev.fairway.agent.gateway.SecretRef;
import java.util.Set;
import java.util.TreeSet;

/**
 * What {@code fairway up} runs by where no file says it: one quota for all models of one provider,
 * and a gateway in front of it.
 */
public final class StarterConfig {

  /**
   * Above what any provider allows: of what an answer's headers name, the lower limit counts, and
   * until the first answer nobody knows it.
   */
  private static final int REQUESTS_MAX = 100_000;

  private static final int TOKENS_MAX = 100_000_000;

  private StarterConfig() {}

  /** Providers whose API has one address, sorted. */
  public static Set<String> providers() {
    return new TreeSet<>(GatewayYaml.URLS.keySet());
  }

  /**
   * For one API key.
   *
   * @param provider one of {@link #providers}
   * @param key where the key is: an environment variable
   * @param url base URL of the provider's API, or null for its own
   */
  public static FairwayConfig of(String provider, SecretRef key, String url) {
    String tokens =
        provider.equals("anthropic")
            ? "input_tokens_per_minute: %1$d, output_tokens_per_minute: %1$d".formatted(TOKENS_MAX)
            : "tokens_per_minute: %d".formatted(TOKENS_MAX);
    return QuotaYaml.parse(
        """
        quotas:
          - id: %1$s/all
            provider: %1$s
            models: ["*"]
            limits: {requests_per_minute: %2$d, %3$s}
        gateway:
          upstreams:
            %1$s: {provider: %1$s, %4$s key: {env: "%5$s"}}
        """
            .formatted(
                provider,
                REQUESTS_MAX,
                tokens,
                url == null ? "" : "url: \"" + url + "\",",
                key.env()),
        "--provider " + provider);
  }

  /** The gateway in front of an emulated provider, for calls of one quota. */
  public static GatewaySection emulated(String quotaId, String url) {
    return QuotaYaml.parse(
            """
            gateway:
              upstreams:
                emulated: {provider: anthropic, url: "%s"}
              routes:
                - {models: ["*"], quota: "%s", upstream: emulated}
            """
                .formatted(url, quotaId),
            "the emulated provider")
        .gateway();
  }
}
