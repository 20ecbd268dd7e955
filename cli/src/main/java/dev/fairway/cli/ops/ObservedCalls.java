package dev.fairway.cli.ops;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What a gateway saw of a quota's calls while it only observed, since the gateway started.
 *
 * @param calls that ended
 * @param rateLimited of these, refused by the provider with a 429 that a wait helps against
 * @param rateLimitedAdmitted of the refused ones, those that admission is not known to have kept
 *     back
 * @param rateLimitedTokens input of the refused calls, estimated
 */
public record ObservedCalls(
    @JsonProperty("calls") long calls,
    @JsonProperty("rate_limited") long rateLimited,
    @JsonProperty("rate_limited_admitted") long rateLimitedAdmitted,
    @JsonProperty("rate_limited_tokens") long rateLimitedTokens) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration ANSWER = Duration.ofSeconds(3);

  /**
   * Asks a gateway, by quota; with the operator's token of {@code FAIRWAY_TOKEN} where there is
   * one. Empty if it does not say: what it observed is an extra, and must not keep the rest from
   * anybody.
   *
   * @param note told, for people, if the gateway wants another token
   */
  public static Map<String, ObservedCalls> of(URI gateway, Consumer<String> note) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.resolve("/fairway/modes")).timeout(ANSWER);
    String token = System.getenv("FAIRWAY_TOKEN");
    if (token != null && !token.isBlank()) {
      request.header("x-fairway-token", token);
    }
    Map<String, ObservedCalls> observed = new TreeMap<>();
    try {
      HttpResponse<String> answer =
          HttpClient.newBuilder()
              .connectTimeout(ANSWER)
              .build()
              .send(request.build(), HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() == 401 || answer.statusCode() == 403) {
        note.accept(
            "what the gateway observed is not shown: it wants the token of a caller who is"
                + " operator, in FAIRWAY_TOKEN");
      } else if (answer.statusCode() == 200) {
        for (Map.Entry<String, JsonNode> quota :
            JSON.readTree(answer.body()).path("observed").properties()) {
          observed.put(quota.getKey(), JSON.treeToValue(quota.getValue(), ObservedCalls.class));
        }
      }
    } catch (IOException e) {
      observed.clear();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return observed;
  }

  /** For people. */
  public String sentence() {
    return rateLimited == 0
        ? "observed " + counted() + ", none got a 429 for a rate limit"
        : "observed "
            + counted()
            + ": "
            + rateLimited
            + " got a 429 for a rate limit, and "
            + amount(rateLimitedTokens)
            + " input tokens had to be sent again; with Fairway 0-"
            + rateLimitedAdmitted
            + " (admission would have had the other "
            + (rateLimited - rateLimitedAdmitted)
            + " wait)";
  }

  private String counted() {
    return calls + (calls == 1 ? " call" : " calls");
  }

  private static String amount(long tokens) {
    if (tokens < 1_000) {
      return Long.toString(tokens);
    }
    return tokens < 1_000_000
        ? String.format(Locale.ROOT, "%.1fk", tokens / 1e3)
        : String.format(Locale.ROOT, "%.1fM", tokens / 1e6);
  }
}
