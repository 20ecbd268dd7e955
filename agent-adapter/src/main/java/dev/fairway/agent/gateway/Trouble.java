package dev.fairway.agent.gateway;

import dev.fairway.agent.provider.Credentials;
import java.time.Duration;

/**
 * Why the gateway itself answers a call with an error.
 *
 * @param status HTTP status
 * @param message what was expected, what was found, what to do
 * @param retryAfter when to come back, or null
 * @param again whether the client's own automatic retry is of use
 * @param openaiCode the code of OpenAI's errors, or null
 */
record Trouble(int status, String message, Duration retryAfter, boolean again, String openaiCode) {

  /** With the code that the status usually has. */
  Trouble(int status, String message, Duration retryAfter, boolean again) {
    this(status, message, retryAfter, again, usualCode(status));
  }

  /** The call is not what it should be. */
  static Trouble badRequest(String message) {
    return new Trouble(400, message, null, false);
  }

  /** Nobody knows the caller. */
  static Trouble unauthorised() {
    return new Trouble(
        401,
        "Expected a caller's token as Authorization: Bearer, x-api-key or x-fairway-token, but found"
            + " none that is known here.",
        null,
        false);
  }

  /** The caller is known, and may not. */
  static Trouble notAnOperator() {
    return new Trouble(403, "Expected a caller that is an operator.", null, false);
  }

  /** Any page that a browser shows could call a gateway on loopback that asks for no token. */
  static Trouble fromABrowser() {
    return new Trouble(
        403,
        "Expected no Origin header where the gateway asks for no token. Name callers with tokens to"
            + " let browsers call it.",
        null,
        false);
  }

  /** No route is for the model. */
  static Trouble modelNotFound(String message) {
    return new Trouble(404, message, null, false, "model_not_found");
  }

  /** The gateway knows no such path. */
  static Trouble unknownUrl(String message) {
    return new Trouble(404, message, null, false, "unknown_url");
  }

  /** The client closed its side of the connection while its call waited. */
  static Trouble hungUp() {
    return badRequest(
        "Expected a client that keeps its side of the connection open until it has its answer, but"
            + " found that it closed it. The call was given up.");
  }

  /** What was sent as an idempotency key is none. */
  static Trouble noKey(String found) {
    return badRequest(
        "Expected an idempotency key of 1 to "
            + PlaceBook.KEY_LENGTH_MAX
            + " characters that are not all blank, but found "
            + found.length()
            + (found.isBlank() ? " blanks" : " characters")
            + ". Send a shorter one, or none.");
  }

  /** An idempotency key stands for one call. */
  static Trouble keyOfAnother(CallPlan.Asked call) {
    return new Trouble(
        409,
        "Expected the same path and body with the same idempotency key, "
            + call.method()
            + " "
            + Credentials.withoutParameters(call.pathAndQuery())
            + ", but found another. Use a new key.",
        null,
        false);
  }

  /**
   * A call was made, and its answer is not there to be given once more.
   *
   * @param why after "its answer"
   */
  static Trouble answerLost(String why) {
    return new Trouble(
        409,
        "Expected an answer for this idempotency key, but it is not kept: the call went upstream and"
            + " is charged, and its answer "
            + why
            + ". To make the call once more, use a new key.",
        null,
        false);
  }

  /** A call failed at the very moment at which its client came back. */
  static Trouble keyHasFailed() {
    return new Trouble(
        409,
        "The call with this idempotency key has just failed. Send it once more.",
        Duration.ofSeconds(1),
        true);
  }

  /** There are as many keys under way as may be. */
  static Trouble tooManyKeys() {
    return unavailable(
        "Expected at most "
            + PlaceBook.CALLS_MAX
            + " calls with idempotency keys under way, but found as many already. Send the call"
            + " again later.",
        Duration.ofSeconds(1));
  }

  /** A method that nobody may use through a gateway. */
  static Trouble methodNotTaken(String method) {
    return new Trouble(
        405, "Expected a method of an API, but found " + method + ", which is none.", null, false);
  }

  /** The body does not come. */
  static Trouble tooSlow() {
    return new Trouble(
        408, "Expected the rest of the request's body, but it did not come.", null, true);
  }

  /** The body is too large. */
  static Trouble tooLarge(long bytesMax) {
    return new Trouble(
        413, "Expected a request body of at most " + bytesMax + " bytes.", null, false);
  }

  /** The provider could not be reached, or did not answer. */
  static Trouble badGateway(String message) {
    return new Trouble(502, message, null, true);
  }

  /** The gateway cannot take the call now. */
  static Trouble unavailable(String message, Duration retryAfter) {
    return new Trouble(503, message, retryAfter, true);
  }

  /** The same, where the client's own retries are of no use any more. */
  Trouble forGood() {
    return new Trouble(status, message, retryAfter, false, openaiCode);
  }

  String anthropicType() {
    return switch (status) {
      case 400, 405, 431 -> "invalid_request_error";
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503 -> "overloaded_error";
      default -> "api_error";
    };
  }

  String openaiType() {
    return switch (status) {
      case 400, 404, 405, 413, 431 -> "invalid_request_error";
      case 401, 403 -> "authentication_error";
      case 429 -> "requests";
      default -> "server_error";
    };
  }

  private static String usualCode(int status) {
    return switch (status) {
      case 401 -> "invalid_api_key";
      case 429 -> "rate_limit_exceeded";
      default -> null;
    };
  }

  /** Whole seconds until {@link #retryAfter()}, at least 1. */
  long retryAfterSeconds() {
    return Math.max(1, (retryAfter.toMillis() + 999) / 1_000);
  }
}
