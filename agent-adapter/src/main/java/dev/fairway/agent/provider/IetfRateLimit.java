package dev.fairway.agent.provider;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The IETF draft's fields: {@code ratelimit: "api";r=999;t=295} and {@code ratelimit-policy:
 * "api";q=1000;w=300}; r is what remains, t seconds until the reset, q the quota, w its window in
 * seconds. Policies that count something else than requests are left out.
 */
final class IetfRateLimit {
  private static final int ITEMS_MAX = 16;
  private static final Pattern ITEM =
      Pattern.compile("\\s*\"?([^\";,=]{1,64})\"?((?:;\\s*[a-z]{1,8}=\"?[^\";,]{1,64}\"?){1,16})");
  private static final Pattern PARAMETER =
      Pattern.compile(";\\s*([a-z]{1,8})=\"?([^\";,]{1,64})\"?");

  private IetfRateLimit() {}

  static List<Limit> read(ResponseHeaders headers, Instant now) {
    Map<String, Map<String, String>> policies = items(headers.get("ratelimit-policy"));
    List<Limit> limits = new ArrayList<>();
    items(headers.get("ratelimit"))
        .forEach(
            (name, service) -> {
              Map<String, String> policy = policies.getOrDefault(name, Map.of());
              String unit = policy.getOrDefault("qu", "requests");
              if (unit.startsWith("request")) {
                Long seconds = Durations.ms(policy.get("w"), 1_000);
                limits.add(
                    RateLimitHeaders.limit(
                        Dimension.REQUESTS,
                        seconds == null || seconds == 0 ? null : Duration.ofMillis(seconds),
                        policy.get("q"),
                        service.get("r"),
                        Reset.duration(service.get("t"), now)));
              }
            });
    return limits;
  }

  private static Map<String, Map<String, String>> items(String field) {
    Map<String, Map<String, String>> items = new LinkedHashMap<>();
    if (field == null) {
      return items;
    }
    Matcher item = ITEM.matcher(field);
    while (item.find() && items.size() < ITEMS_MAX) {
      Map<String, String> parameters = new HashMap<>();
      Matcher parameter = PARAMETER.matcher(item.group(2));
      while (parameter.find()) {
        parameters.putIfAbsent(parameter.group(1), parameter.group(2));
      }
      items.putIfAbsent(item.group(1), parameters);
    }
    return items;
  }
}
