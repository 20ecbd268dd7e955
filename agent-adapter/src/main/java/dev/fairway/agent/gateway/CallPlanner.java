package dev.fairway.agent.gateway;

import dev.fairway.agent.estimate.InputEstimator;
import dev.fairway.agent.estimate.PrefixBook;
import dev.fairway.agent.fallback.RetryBudget;
import dev.fairway.agent.gateway.CallBody.UnreadableBodyException;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.GatewayConfig.Waits;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.eclipse.jetty.http.HttpFields;

/** Makes the plan of a call from what the client sent. Thread-safe. */
final class CallPlanner {
  private static final Duration PATIENCE_MIN = Duration.ofSeconds(1);
  private static final long PATIENCE_S_MAX = 24 * 60 * 60;
  private static final String SECONDS = "[0-9]{1,9}(\\.[0-9]{1,9})?";

  /** What SDKs say, in seconds: how long they wait for an answer, or for its next byte. */
  private static final List<String> PATIENCE_HEADERS =
      List.of("x-stainless-timeout", "x-stainless-read-timeout");

  /** A call that is not taken. */
  static final class NotTakenException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient Trouble trouble;

    NotTakenException(Trouble trouble) {
      super(trouble.message(), null, false, false);
      this.trouble = trouble;
    }

    Trouble trouble() {
      return trouble;
    }
  }

  private static final int SHOWN_MAX = 100;

  private final Router router;
  private final Waits waits;
  private final InputEstimator estimator;
  private final PrefixBook prefixes;
  private final RetryBook retries;
  private final LongSupplier epochMs;

  CallPlanner(
      Router router,
      Waits waits,
      InputEstimator estimator,
      PrefixBook prefixes,
      RetryBook retries,
      LongSupplier epochMs) {
    this.router = router;
    this.waits = waits;
    this.estimator = estimator;
    this.prefixes = prefixes;
    this.retries = retries;
    this.epochMs = epochMs;
  }

  /**
   * The plan of a call.
   *
   * @param query as it came, or null
   * @param host the client's address
   * @param port the client's port
   * @throws NotTakenException if no route is for it, or it cannot be read
   */
  CallPlan plan(
      String method,
      ApiPath path,
      String query,
      HttpFields headers,
      byte[] body,
      Caller caller,
      String host,
      int port)
      throws NotTakenException {
    Endpoint endpoint = Endpoint.of(method, path.plain());
    String pathAndQuery = query == null ? path.sent() : path.sent() + "?" + query;
    requireUri(pathAndQuery);
    if (endpoint == null) {
      return passed(method, path, pathAndQuery, headers, body);
    }
    requireUncompressed(headers);
    CallBody read;
    try {
      read = CallBody.parse(body);
    } catch (UnreadableBodyException e) {
      throw new NotTakenException(Trouble.badRequest(e.getMessage()));
    }
    Router.Target target = router.ofModel(read.model());
    if (target == null) {
      throw new NotTakenException(
          Trouble.modelNotFound(
              "Expected a model that a quota or a route of the gateway is for, but found '"
                  + shown(read.model())
                  + "'. Add it to the models of a quota or to gateway.routes, or name an upstream for"
                  + " all others with gateway.unknown."));
    }
    boolean counted = endpoint.isCounted() && target.quota() != null;
    if (counted) {
      requireBounds(endpoint, read);
    }
    String conversation = endpoint == Endpoint.EMBEDDINGS ? null : read.conversationHash();
    Asker asker =
        counted ? Identification.of(caller, headers, read, conversation, host, port) : null;
    String bodyHash = counted ? read.hash() : null;
    byte[] asking = body;
    if (counted && endpoint == Endpoint.CHAT && read.stream()) {
      asking = StreamUsage.asked(body);
    }
    return new CallPlan(
        method,
        pathAndQuery,
        headers,
        endpoint.family(),
        endpoint.isCounted() ? target : new Router.Target(null, target.upstream()),
        read.model(),
        asking,
        bodyHash,
        read.stream(),
        asking != body && !read.tellsUsage(),
        asker,
        counted ? estimator.estimate(endpoint.format(), read.model(), read.json()) : null,
        counted
            ? prefixes.of(asker.member(), read.model(), read.json(), epochMs.getAsLong())
            : null,
        counted ? PrefixBook.content(read.json()) : null,
        read.maxOutputTokens(endpoint),
        counted ? tries(asker, bodyHash, headers) : null,
        patience(headers));
  }

  /** The provider's own count of a call's input, or null if there is none to be had. */
  CompletableFuture<Long> counted(CallPlan plan, CountCalls counts) {
    Endpoint endpoint = Endpoint.of(plan.method(), plan.path());
    if (!plan.counted() || endpoint != Endpoint.MESSAGES || !counts.isAllowed()) {
      return CompletableFuture.completedFuture(null);
    }
    try {
      return counts.count(plan.target().upstream(), plan.headers(), CallBody.parse(plan.body()));
    } catch (UnreadableBodyException e) {
      return CompletableFuture.completedFuture(null);
    }
  }

  /** What a client sent, as one line, cut where it is long. */
  static String shown(String text) {
    StringBuilder shown = new StringBuilder();
    text.codePoints()
        .limit(SHOWN_MAX)
        .map(c -> Character.isISOControl(c) ? '?' : c)
        .forEach(shown::appendCodePoint);
    return shown.append(text.length() > shown.length() ? "..." : "").toString();
  }

  private static void requireBounds(Endpoint endpoint, CallBody body) throws NotTakenException {
    try {
      body.requireBounds(endpoint);
    } catch (UnreadableBodyException e) {
      throw new NotTakenException(Trouble.badRequest(e.getMessage()));
    }
  }

  /** A body has to be read to be counted, and passed on as it came. */
  private static void requireUncompressed(HttpFields headers) throws NotTakenException {
    String encoding = headers.get("content-encoding");
    if (encoding != null && !encoding.strip().equalsIgnoreCase("identity")) {
      throw new NotTakenException(
          Trouble.badRequest(
              "Expected a body that is not compressed, but found content-encoding "
                  + shown(encoding)
                  + ". Switch the compression of requests off."));
    }
  }

  /** What is no URI cannot be sent on, so no lease is asked for. */
  private static void requireUri(String pathAndQuery) throws NotTakenException {
    try {
      // Of the characters beyond ASCII the JDK takes some unescaped, and they would go out as "?".
      if (!new URI("http://upstream" + pathAndQuery).toASCIIString().endsWith(pathAndQuery)) {
        throw new URISyntaxException(pathAndQuery, "not ASCII");
      }
    } catch (URISyntaxException e) {
      throw new NotTakenException(
          Trouble.badRequest(
              "Expected a path and a query as RFC 3986 has them, but found "
                  + shown(pathAndQuery)
                  + ". Escape what is not allowed in them, such as | as %7C."));
    }
  }

  /** A call of a path that the gateway does not know: passed on uncounted, or refused. */
  private CallPlan passed(
      String method, ApiPath path, String pathAndQuery, HttpFields headers, byte[] body)
      throws NotTakenException {
    Router.Target target = router.ofUnknownPath();
    if (target == null) {
      throw new NotTakenException(
          Trouble.unknownUrl(
              "Expected POST /v1/messages, /v1/messages/count_tokens, /v1/chat/completions,"
                  + " /v1/responses or /v1/embeddings, but found "
                  + shown(method + " " + path.sent())
                  + ". Check the base URL, or name an upstream for such calls in gateway.unknown."));
    }
    return new CallPlan(
        method,
        pathAndQuery,
        headers,
        path.family(),
        target,
        null,
        body,
        null,
        false,
        false,
        null,
        null,
        null,
        null,
        null,
        null,
        patience(headers));
  }

  private RetryBook.Tries tries(Asker asker, String bodyHash, HttpFields headers) {
    String count = headers.get("x-stainless-retry-count");
    boolean saidRetry = count != null && !count.strip().equals("0");
    Integer allowed =
        RetryBudget.ofHeader(headers.get(RetryBudget.HEADER))
            .map(RetryBudget::remaining)
            .orElse(null);
    return retries.of(asker.triesOf(), bodyHash, saidRetry, allowed, epochMs.getAsLong());
  }

  /** Until shortly before the client gives up: the shortest time that it says, if it does. */
  private Duration patience(HttpFields headers) {
    Duration until =
        PATIENCE_HEADERS.stream()
            .map(headers::get)
            .filter(said -> said != null && said.strip().matches(SECONDS))
            .map(said -> Math.min(PATIENCE_S_MAX, Double.parseDouble(said.strip())))
            .min(Double::compare)
            .map(seconds -> Duration.ofMillis((long) (seconds * 1_000)))
            .orElse(waits.patience())
            .minus(waits.patienceMargin());
    return until.compareTo(PATIENCE_MIN) < 0 ? PATIENCE_MIN : until;
  }
}
