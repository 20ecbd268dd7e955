package dev.fairway.schemas.serde;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * How a client talks to a schema registry.
 *
 * @param urls base addresses, tried in turn; at least one
 * @param authorization value of the Authorization header; null: none
 * @param connectTimeout longest wait for a connection to one address
 * @param requestTimeout longest time of one look-up, all addresses together
 * @param registerTimeout longest time of one registration, all addresses together; a registry that
 *     has just started compiles its first answers
 * @param cachedMax most schemas, and most ids, that are remembered
 * @param missingMax most unknown ids that are remembered
 * @param missingTtl how long an unknown id is remembered
 * @param unavailablePause how long no look-up by id is tried after one without an answer
 */
public record RegistrySettings(
    List<String> urls,
    String authorization,
    Duration connectTimeout,
    Duration requestTimeout,
    Duration registerTimeout,
    int cachedMax,
    int missingMax,
    Duration missingTtl,
    Duration unavailablePause) {

  /**
   * Checked settings.
   *
   * @throws IllegalArgumentException if there is no address, or one that is no http or https URL,
   *     or a timeout or bound that is not positive
   */
  public RegistrySettings {
    urls = urls.stream().map(RegistrySettings::checkedUrl).toList();
    if (urls.isEmpty()) {
      throw new IllegalArgumentException(
          "Expected the address of a schema registry in schema.registry.url, but found none.");
    }
    for (Duration timeout : List.of(connectTimeout, requestTimeout, registerTimeout)) {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException(
            "Expected timeouts above 0 ms for the schema registry, but found %d ms."
                .formatted(timeout.toMillis()));
      }
    }
    if (cachedMax < 1 || missingMax < 1) {
      throw new IllegalArgumentException(
          "Expected caches of 1 entry or more for the schema registry, but found %d and %d."
              .formatted(cachedMax, missingMax));
    }
  }

  /** Defaults: timeouts of 1 s, 5 s to register; unknown ids kept 10 s; a pause of 2 s. */
  public static RegistrySettings of(String urls) {
    return new RegistrySettings(
        Arrays.stream(urls.split(",")).map(String::strip).filter(u -> !u.isEmpty()).toList(),
        null,
        Duration.ofSeconds(1),
        Duration.ofSeconds(1),
        Duration.ofSeconds(5),
        1_000,
        10_000,
        Duration.ofSeconds(10),
        Duration.ofSeconds(2));
  }

  /**
   * These settings with HTTP basic authentication.
   *
   * @param userInfo {@code user:password}
   */
  public RegistrySettings withBasicAuth(String userInfo) {
    String header =
        "Basic " + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.UTF_8));
    return new RegistrySettings(
        urls,
        header,
        connectTimeout,
        requestTimeout,
        registerTimeout,
        cachedMax,
        missingMax,
        missingTtl,
        unavailablePause);
  }

  /** These settings with other timeouts. */
  public RegistrySettings withTimeouts(Duration connect, Duration request, Duration register) {
    return new RegistrySettings(
        urls,
        authorization,
        connect,
        request,
        register,
        cachedMax,
        missingMax,
        missingTtl,
        unavailablePause);
  }

  /** These settings with other bounds of what is remembered. */
  public RegistrySettings withCaches(int schemasMax, int idsMissingMax, Duration idsMissingTtl) {
    return new RegistrySettings(
        urls,
        authorization,
        connectTimeout,
        requestTimeout,
        registerTimeout,
        schemasMax,
        idsMissingMax,
        idsMissingTtl,
        unavailablePause);
  }

  /** Without the authorization. */
  @Override
  public String toString() {
    return "RegistrySettings[urls=" + urls + ", requestTimeout=" + requestTimeout + "]";
  }

  private static String checkedUrl(String url) {
    URI uri;
    try {
      uri = URI.create(url);
    } catch (IllegalArgumentException e) {
      throw badUrl(url, e);
    }
    if (uri.getHost() == null
        || !List.of("http", "https").contains(String.valueOf(uri.getScheme()))) {
      throw badUrl(url, null);
    }
    return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
  }

  private static IllegalArgumentException badUrl(String url, Exception cause) {
    return new IllegalArgumentException(
        "Expected http(s)://host:port in schema.registry.url, but found '%s'.".formatted(url),
        cause);
  }
}
