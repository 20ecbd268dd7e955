package dev.fairway.replay.script;

import static dev.fairway.replay.script.Script.JSON;
import static dev.fairway.replay.script.Script.decision;
import static dev.fairway.replay.script.Script.events;
import static dev.fairway.replay.script.Script.states;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Failures of other people's systems, collected with what should have happened. Every case about
 * admission or settlement runs as a script; the collection is the source of the numbers.
 */
class CollectedCasesTest {
  private static final Map<String, JsonNode> CASES = new HashMap<>();
  private static final Map<String, Consumer<JsonNode>> CHECKS = checks();

  private static Map<String, Consumer<JsonNode>> checks() {
    Map<String, Consumer<JsonNode>> checks = new HashMap<>();
    checks.put("C01", CollectedCasesTest::shouldChargeBeforeTheNextCheck);
    checks.put("C02", CollectedCasesTest::shouldQueueWithTheTimeThatIsMissing);
    checks.put("C04", CollectedCasesTest::shouldLearnALimitFromARefusalForSize);
    checks.put("C05", CollectedCasesTest::shouldRejectWhatNeverFitsAndServeTheNext);
    checks.put("C06", CollectedCasesTest::shouldCountARefillThatHasBegun);
    checks.put("C07", CollectedCasesTest::shouldStayFullAfterAMonth);
    checks.put("C09", CollectedCasesTest::shouldNotRefillTwiceAfterAClockStepsBack);
    checks.put("C13", CollectedCasesTest::shouldChargeTheDefaultForAMissingEstimate);
    checks.put("C15", CollectedCasesTest::shouldCountAllInstancesTogether);
    checks.put("C16", CollectedCasesTest::shouldChargeACachedPrefixOnlyWhenCold);
    checks.put("C22", CollectedCasesTest::shouldGoIntoDebtAndWaitItOut);
    checks.put("C24", CollectedCasesTest::shouldFreeTheSlotsOfLostLeases);
    checks.put("C25", CollectedCasesTest::shouldSettleOnce);
    checks.put("C27", CollectedCasesTest::shouldGrantARepeatedRequestOnce);
    checks.put("C29", CollectedCasesTest::shouldWaitForTheResetWithoutRetryAfter);
    checks.put("C31", CollectedCasesTest::shouldTakeSentinelsAsUnknown);
    checks.put("C39", CollectedCasesTest::shouldTakeRetryAfterAsAFloor);
    checks.put("C40", CollectedCasesTest::shouldRejectUntilAnOperatorClearsABillingStop);
    checks.put("C45", CollectedCasesTest::shouldPauseAndKeepTheLevelAfterAnOverload);
    checks.put("C48", CollectedCasesTest::shouldHoldTheQueueToo);
    checks.put("C49", CollectedCasesTest::shouldLendAllToTheOnlyOneWhoAsks);
    checks.put("C51", CollectedCasesTest::shouldStartANewcomerAtTheVirtualTime);
    checks.put("C58", CollectedCasesTest::shouldExpireAndGrantWithoutTraffic);
    return checks;
  }

  @BeforeAll
  static void readTheCollection() throws IOException {
    String shared = System.getProperty("fairway.shared");
    Path file = shared == null ? null : Path.of(shared, "cases", "cases.jsonl");
    assumeThat(file != null && Files.exists(file))
        .as("the collected cases at %s (system property fairway.shared)", file)
        .isTrue();
    for (String line : Files.readAllLines(file)) {
      JsonNode node = JSON.readTree(line);
      CASES.put(node.get("id").asText(), node);
    }
  }

  static List<String> ids() {
    return CHECKS.keySet().stream().sorted().toList();
  }

  @ParameterizedTest
  @MethodSource("ids")
  void shouldGiveTheExpectedValue(String id) {
    // given
    JsonNode collected = CASES.get(id);
    assertThat(collected).as("case %s in the collection", id).isNotNull();

    // then
    CHECKS.get(id).accept(collected);
  }

  private static void shouldChargeBeforeTheNextCheck(JsonNode c) {
    // given
    JsonNode asked = c.at("/when/0/simultaneous_lease_requests_tokens");
    Script script = new Script().line(0, "quota", tokenQuota(c));
    for (int i = 0; i < asked.size(); i++) {
      script.request(0, "r" + i, asked.get(i).longValue());
    }

    // when
    List<JsonNode> printed = script.run();

    // then
    List<String> decisions = new ArrayList<>();
    long granted = 0;
    for (int i = 0; i < asked.size(); i++) {
      JsonNode decision = decision(printed, "r" + i);
      decisions.add(word(decision));
      granted += word(decision).equals("GRANT") ? asked.get(i).longValue() : 0;
      if (word(decision).equals("REJECT")) {
        assertThat(decision.get("reason").asText()).isEqualTo("NEVER_FITS");
        assertThat(decision.get("retry_at_ms").isNull()).isTrue();
      }
    }
    assertThat(decisions).isEqualTo(texts(c.at("/expect/decisions")));
    assertThat(granted).isLessThanOrEqualTo(c.at("/expect/sum_granted_at_t0_max").longValue());
    assertThat(decision(printed, "r1").get("eta_ms").longValue())
        .isEqualTo(ms(c.at("/expect/eta_second_s")));
  }

  private static void shouldQueueWithTheTimeThatIsMissing(JsonNode c) {
    // given
    Script script = new Script().line(0, "quota", tokenQuota(c));
    JsonNode when = c.get("when");
    for (int i = 0; i < when.size(); i++) {
      script.request(ms(when.get(i).get("t_s")), "r" + i, when.get(i).get("lease_tokens").asLong());
      script.show(ms(when.get(i).get("t_s")));
    }

    // when
    List<JsonNode> printed = script.run();

    // then
    List<String> decisions =
        List.of("r0", "r1", "r2").stream().map(id -> word(decision(printed, id))).toList();
    assertThat(decisions).isEqualTo(texts(c.at("/expect/decisions")));
    assertThat(states(printed).get(1).at("/levels/tokens").longValue())
        .isEqualTo(c.at("/expect/level_after_two").longValue());
    assertThat(decision(printed, "r2").get("eta_ms").longValue())
        .isEqualTo(ms(c.at("/expect/eta_third_s")));
  }

  private static void shouldLearnALimitFromARefusalForSize(JsonNode c) {
    // given: the agent read the two numbers out of the provider's text
    Matcher numbers =
        Pattern.compile("Limit (\\d+), Requested (\\d+)")
            .matcher(c.at("/given/body/error/message").asText());
    assertThat(numbers.find()).isTrue();
    long limit = Long.parseLong(numbers.group(1));
    long requested = Long.parseLong(numbers.group(2));
    ObjectNode quota = quota("tokens", 10 * limit).put("provider", "openai");
    ObjectNode refusal = settle("r1", "RATE_LIMITED");
    signal(refusal, c.at("/given/status").intValue(), c.at("/expect/class").asText())
        .putObject("limits")
        .putObject("tokens")
        .put("limit", limit);
    Script script =
        new Script()
            .line(0, "quota", quota)
            .request(0, "r1", requested)
            .line(1, "settle", refusal)
            .request(2, "r2", requested);

    // when
    List<JsonNode> printed = script.run();

    // then
    JsonNode learned = events(printed, "LimitLearned").get(0);
    assertThat(learned.get("dimension").asText()).isEqualTo("tokens");
    assertThat(learned.get("limit_per_minute").longValue())
        .isEqualTo(c.at("/expect/limit_learned").longValue());
    assertThat(events(printed, "MarginCut")).hasSize(c.at("/expect/margin_change").intValue());
    assertThat(decision(printed, "r2").get("reason").asText())
        .isEqualTo(c.at("/expect/class").asText());
  }

  private static void shouldRejectWhatNeverFitsAndServeTheNext(JsonNode c) {
    // given
    Script script = new Script().line(0, "quota", tokenQuota(c));
    script.request(0, "r0", c.at("/when/0/lease_tokens").asLong());
    script.request(0, "r1", c.at("/when/1/lease_tokens").asLong());

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(List.of(word(decision(printed, "r0")), word(decision(printed, "r1"))))
        .isEqualTo(texts(c.at("/expect/decisions")));
    assertThat(decision(printed, "r0").get("reason").asText()).isEqualTo("NEVER_FITS");
  }

  private static void shouldCountARefillThatHasBegun(JsonNode c) {
    // given
    ObjectNode quota = quota("requests", 60 * c.at("/given/limit_per_s").asLong());
    quota.putObject("depth").put("requests", c.at("/given/capacity").asLong());
    quota.putObject("level").put("requests", c.at("/given/level").asLong());
    Script script =
        new Script()
            .line(0, "quota", quota)
            .request(c.at("/when/0/t_ms").asLong(), "r0", 0)
            .request(c.at("/when/1/t_ms").asLong(), "r1", 0);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(decision(printed, "r1").get("eta_ms").longValue())
        .isEqualTo(c.at("/expect/eta_ms").longValue());
  }

  private static void shouldStayFullAfterAMonth(JsonNode c) {
    // given
    ObjectNode quota = quota("input_tokens", c.at("/given/limit_per_min").asLong());
    quota.putObject("depth").put("input_tokens", c.at("/given/capacity").asLong());
    quota.putObject("level").put("input_tokens", c.at("/given/level").asLong());
    long atMs = Duration.ofDays(c.at("/when/0/advance_days").asLong()).toMillis();
    Script script =
        new Script()
            .line(0, "quota", quota)
            .show(atMs)
            .request(atMs, "r", c.at("/when/1/ask").asLong());

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(states(printed).get(0).at("/levels/input_tokens").longValue())
        .isEqualTo(c.at("/expect/level_before_ask").longValue());
    assertThat(word(decision(printed, "r"))).isEqualTo(c.at("/expect/decision").asText());
  }

  private static void shouldNotRefillTwiceAfterAClockStepsBack(JsonNode c) {
    // given
    ObjectNode quota = quota("tokens", c.at("/given/limit_per_min").asLong());
    quota.putObject("level").put("tokens", c.at("/given/level").asLong());
    Script script =
        new Script()
            .line(c.at("/given/last_refill_ms").asLong(), "quota", quota)
            .request(c.at("/when/0/clock_ms").asLong(), "r0", c.at("/when/0/ask").asLong())
            .show(c.at("/when/0/clock_ms").asLong())
            .request(c.at("/when/1/clock_ms").asLong(), "r1", c.at("/when/1/ask").asLong())
            .show(c.at("/when/1/clock_ms").asLong());

    // when
    List<JsonNode> states = states(script.run());

    // then
    assertThat(states.get(0).at("/levels/tokens").longValue())
        .isEqualTo(c.at("/expect/level_after_first").longValue());
    assertThat(states.get(1).at("/levels/tokens").longValue())
        .isBetween(
            c.at("/expect/level_after_first").longValue() + 1,
            c.at("/expect/level_at_101000_max").longValue());
  }

  private static void shouldChargeTheDefaultForAMissingEstimate(JsonNode c) {
    // given
    ObjectNode quota = tokenQuota(c);
    quota.put("default_estimate", c.at("/given/default_estimate_when_unknown").asLong());
    Script script = new Script().line(0, "quota", quota);
    for (int i = 0; i < c.at("/when/0/simultaneous_requests").asInt(); i++) {
      script.line("{'at_ms':0,'request':{'id':'r" + i + "','quota':'q','agent':'a" + i + "'}}");
    }

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(grantedAt(printed, 0)).isEqualTo(c.at("/expect/granted_at_t0").longValue());
  }

  private static void shouldCountAllInstancesTogether(JsonNode c) {
    // given
    ObjectNode quota = quota("requests", c.at("/given/rpm_limit").asLong());
    quota.putObject("level").put("requests", c.at("/given/level").asLong());
    Script script = new Script().line(0, "quota", quota);
    int instances = c.at("/given/instances").asInt();
    for (int i = 0; i < c.at("/when/0/requests").asInt(); i++) {
      String agent = "instance-" + i % instances;
      script.line("{'at_ms':0,'request':{'id':'r" + i + "','quota':'q','agent':'" + agent + "'}}");
    }

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(grantedAt(printed, 0)).isEqualTo(c.at("/expect/granted_total").longValue());
  }

  private static void shouldChargeACachedPrefixOnlyWhenCold(JsonNode c) {
    // given
    JsonNode when = c.at("/when/0");
    long cached = when.get("of_which_expected_cache_read").asLong();
    long uncached = when.get("prompt_tokens_total").asLong() - cached;

    // when
    List<JsonNode> warm = runWithCache(c, uncached, cached, "1000");
    List<JsonNode> cold = runWithCache(c, uncached, cached, "null");

    // then
    assertThat(grantedAt(warm, 0)).isEqualTo(c.at("/expect/granted_at_t0").longValue());
    assertThat(decision(warm, "r0").at("/charged/input_tokens").longValue())
        .isEqualTo(c.at("/expect/charged_each").longValue());
    String told =
        grantedAt(cold, 0) + " granted, " + events(cold, "LeaseQueued").size() + " queued";
    assertThat(told).isEqualTo(c.at("/expect/same_with_cold_cache").asText());
  }

  private static List<JsonNode> runWithCache(
      JsonNode c, long uncached, long cached, String expiresAtMs) {
    ObjectNode quota = quota("input_tokens", c.at("/given/itpm_limit").asLong());
    quota.put("provider", c.at("/given/provider").asText()).put("max_queue_wait", "1h");
    quota.putObject("level").put("input_tokens", c.at("/given/level").asLong());
    Script script = new Script().line(0, "quota", quota);
    for (int i = 0; i < c.at("/when/0/simultaneous_requests").asInt(); i++) {
      script.line(
          "{'at_ms':0,'request':{'id':'r%d','quota':'q','agent':'a%d','input_tokens':%d,'cached_tokens':%d,'cache_expires_at_ms':%s}}"
              .formatted(i, i, uncached, cached, expiresAtMs));
    }
    return script.run();
  }

  private static void shouldGoIntoDebtAndWaitItOut(JsonNode c) {
    // given
    ObjectNode quota = quota("output_tokens", c.at("/given/otpm_limit").asLong());
    quota.putObject("level").put("output_tokens", c.at("/given/level").asLong());
    Script script =
        new Script()
            .line(0, "quota", quota)
            .line(0, "request", output("r0", c.at("/when/0/lease_est_out").asLong()))
            .line(
                0,
                "settle",
                settle("r0", "SUCCEEDED").put("output_tokens", c.at("/when/1/settle_out").asLong()))
            .show(0)
            .line(0, "request", output("r2", c.at("/when/2/lease_est_out").asLong()));

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(word(decision(printed, "r0"))).isEqualTo(c.at("/when/0/decision").asText());
    assertThat(states(printed).get(0).at("/levels/output_tokens").longValue())
        .isEqualTo(c.at("/expect/level_after_settle").longValue());
    assertThat(word(decision(printed, "r2"))).isEqualTo(c.at("/expect/third").asText());
    assertThat(decision(printed, "r2").get("eta_ms").longValue())
        .isEqualTo(ms(c.at("/expect/eta_s")));
  }

  private static void shouldFreeTheSlotsOfLostLeases(JsonNode c) {
    // given: every grant takes tokens too, down to the level of the case
    int grants = c.at("/when/0/grants").asInt();
    ObjectNode quota = quota("concurrent_requests", c.at("/given/concurrency_limit").asLong());
    quota.withObject("limits").put("tokens_per_minute", 1);
    quota.putObject("depth").put("tokens", 100);
    quota.putObject("level").put("tokens", c.at("/given/token_level_before").asLong() + grants);
    quota.put("lease_ttl_ms", ms(c.at("/given/lease_ttl_s"))).put("max_queue_wait", "10m");
    Script script = new Script().line(0, "quota", quota);
    for (int i = 0; i < grants; i++) {
      script.request(0, "r" + i, 1);
    }
    long ttlMs = ms(c.at("/given/lease_ttl_s"));
    long askedK = ms(c.at("/when/2/t_s"));
    script
        .show(0)
        .request(askedK, "K", 0)
        .show(ttlMs - 1)
        .show(ttlMs)
        .request(ms(c.at("/when/3/t_s")), "L", 0);

    // when
    List<JsonNode> printed = script.run();

    // then
    List<JsonNode> states = states(printed);
    assertThat(grantedAt(printed, 0)).isEqualTo(grants);
    assertThat(states.get(0).at("/levels/tokens").longValue())
        .isEqualTo(c.at("/given/token_level_before").longValue());
    assertThat("not " + word(decision(printed, "L")))
        .isEqualTo(c.at("/expect/K").asText())
        .isNotEqualTo("not " + word(decision(printed, "K")));
    assertThat(states.get(2).at("/levels/tokens").longValue())
        .isEqualTo(
            states.get(1).at("/levels/tokens").longValue()
                + c.at("/expect/tokens_refunded_on_expiry").longValue()
                // The minute tick of the refill falls into this very millisecond.
                + 1);
    assertThat(c.at("/expect/L").asText()).startsWith(word(decision(printed, "L")));
  }

  private static void shouldSettleOnce(JsonNode c) {
    // given
    long estimate = c.at("/given/lease/est_in").asLong();
    ObjectNode quota = quota("input_tokens", 1000 * estimate);
    quota
        .putObject("level")
        .put("input_tokens", c.at("/given/level_after_grant").asLong() + estimate);
    Script script =
        new Script()
            .line(0, "quota", quota)
            .request(0, "L1", estimate)
            .show(0)
            .line(
                0,
                "settle",
                settle("L1", "SUCCEEDED").put("input_tokens", c.at("/when/0/actual_in").asLong()))
            .show(0)
            .line(
                0,
                "settle",
                settle("L1", "SUCCEEDED").put("input_tokens", c.at("/when/1/actual_in").asLong()))
            .show(0);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(states(printed))
        .extracting(state -> state.at("/levels/input_tokens").longValue())
        .containsExactly(
            c.at("/given/level_after_grant").longValue(),
            c.at("/expect/level_after_first").longValue(),
            c.at("/expect/level_after_second").longValue());
    assertThat(events(printed, "DuplicateIgnored")).hasSize(1);
  }

  private static void shouldGrantARepeatedRequestOnce(JsonNode c) {
    // given
    ObjectNode quota = quota("tokens", 10 * c.at("/given/level").asLong());
    quota.putObject("level").put("tokens", c.at("/given/level").asLong());
    Script script = new Script().line(0, "quota", quota);
    for (JsonNode when : c.get("when")) {
      script.request(0, when.get("lease_request").asText(), when.get("tokens").asLong());
    }
    script.show(0);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(states(printed).get(0).at("/levels/tokens").longValue())
        .isEqualTo(c.at("/expect/level_after_both").longValue());
    assertThat(events(printed, "DecisionRepeated").get(0).get("lease"))
        .isEqualTo(events(printed, "LeaseGranted").get(0).get("lease"));
    assertThat(events(printed, "LeaseGranted")).hasSize(1);
  }

  private static void shouldWaitForTheResetWithoutRetryAfter(JsonNode c) {
    // given
    JsonNode headers = c.at("/given/headers");
    Script script = new Script().line(0, "quota", anthropicQuota(headers));
    script.request(0, "r1", 0);
    script.line(0, "settle", refusalWith(c, headers, 0));
    script.show(0).request(0, "r2", 0);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "QuotaHeld").get(0).get("until_ms").longValue())
        .isEqualTo(ms(c.at("/expect/wait_s")));
    assertThat(c.at("/expect/tokens_bucket").asText())
        .startsWith("resynced to " + states(printed).get(0).at("/levels/tokens").longValue() + " ");
    assertThat(grantedAt(printed, ms(c.at("/expect/wait_s")))).isZero();

    // and: with both exhausted, the later reset counts
    ObjectNode both = headers.deepCopy();
    both.put("anthropic-ratelimit-tokens-remaining", "0");
    Script later = new Script().line(0, "quota", anthropicQuota(headers));
    later.request(0, "r1", 0).line(0, "settle", refusalWith(c, both, 2500));
    assertThat(events(later.run(), "QuotaHeld").get(0).get("until_ms").longValue())
        .isEqualTo(ms(c.at("/expect/wait_s")) + 2500);
  }

  private static ObjectNode anthropicQuota(JsonNode headers) {
    ObjectNode quota =
        quota("tokens", headers.get("anthropic-ratelimit-tokens-limit").asLong())
            .put("provider", "anthropic");
    quota
        .withObject("limits")
        .put("requests_per_minute", headers.get("anthropic-ratelimit-requests-limit").asLong());
    return quota;
  }

  private static ObjectNode refusalWith(JsonNode c, JsonNode headers, long laterMs) {
    Instant now = Instant.parse(c.at("/given/now").asText());
    ObjectNode settle = settle("r1", "RATE_LIMITED");
    ObjectNode limits =
        signal(settle, c.at("/given/status").asInt(), "RATE_LIMITED")
            .put("age_ms", 0)
            .put("ms_since_send", 0)
            .putObject("limits");
    for (String name : List.of("requests", "tokens")) {
      String header = "anthropic-ratelimit-" + name + "-";
      Instant reset = Instant.parse(headers.get(header + "reset").asText());
      limits
          .putObject(name)
          .put("limit", headers.get(header + "limit").asLong())
          .put("remaining", headers.get(header + "remaining").asLong())
          .put(
              "reset_ms",
              Duration.between(now, reset).toMillis() + (name.equals("tokens") ? laterMs : 0));
    }
    return settle;
  }

  private static void shouldTakeSentinelsAsUnknown(JsonNode c) {
    // given
    JsonNode headers = c.at("/given/headers");
    ObjectNode quota = quota("tokens", c.at("/given/model_limit").asLong());
    quota.put("provider", c.at("/given/provider").asText());
    quota.putObject("level").put("tokens", c.at("/given/model_level").asLong() + 5);
    ObjectNode settle = settle("r1", "SUCCEEDED").put("input_tokens", 5);
    signal(settle, 200, "OK")
        .putObject("limits")
        .putObject("tokens")
        .put("limit", headers.get("x-ratelimit-limit-tokens").asLong())
        .put("remaining", headers.get("x-ratelimit-remaining-tokens").asLong())
        .put("reset_ms", headers.get("x-ratelimit-reset-tokens").asLong());
    Script script =
        new Script()
            .line(0, "quota", quota)
            .request(0, "r1", 5)
            .line(0, "settle", settle)
            .show(0)
            .request(0, "all", c.at("/given/model_limit").asLong());

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(states(printed).get(0).at("/levels/tokens").longValue())
        .isEqualTo(c.at("/expect/level").longValue());
    assertThat(events(printed, "LimitLearned")).isEmpty();
    assertThat(events(printed, "BucketsResynced")).isEmpty();
    assertThat(c.at("/expect/limit")).isEqualTo(c.at("/given/model_limit"));
    assertThat(word(decision(printed, "all"))).isEqualTo("QUEUED");
  }

  private static void shouldTakeRetryAfterAsAFloor(JsonNode c) {
    // given
    long waitMs = 1000 * c.at("/given/headers/retry-after").asLong();
    long everyMs = ms(c.at("/when/0/lease_requests_every_s"));
    ObjectNode refusal = settle("r0", "RATE_LIMITED");
    signal(refusal, c.at("/given/status").asInt(), "RATE_LIMITED").put("retry_after_ms", waitMs);
    Script script = new Script().line(0, "quota", quota("requests", 600));
    script.request(0, "first", 0).request(0, "r0", 0).line(0, "settle", refusal);
    for (long atMs = 0; atMs <= 2 * waitMs; atMs += everyMs) {
      script.request(atMs, "at-" + atMs, 0);
    }

    // when
    List<JsonNode> granted = events(script.run(), "LeaseGranted");

    // then: besides the two grants that brought it about
    assertThat(granted.get(2).get("at_ms").longValue())
        .isGreaterThanOrEqualTo(ms(c.at("/expect/first_grant_not_before_s")));
  }

  private static void shouldRejectUntilAnOperatorClearsABillingStop(JsonNode c) {
    // given
    ObjectNode quota = quota("requests", 600).put("provider", c.at("/given/provider").asText());
    ObjectNode refusal = settle("r0", "RATE_LIMITED");
    signal(refusal, c.at("/given/status").asInt(), c.at("/expect/class").asText());
    Script script =
        new Script()
            .line(0, "quota", quota)
            .request(0, "r0", 0)
            .line(10, "settle", refusal)
            .request(20, "r1", 0)
            .request(86_400_000, "r2", 0)
            .line(86_400_001, "quota", quota.deepCopy().put("clear_count", 1))
            .request(86_400_002, "r3", 0);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "MarginCut")).hasSize(c.at("/expect/margin_change").intValue());
    assertThat(c.at("/expect/fleet").asText()).startsWith(word(decision(printed, "r1")));
    assertThat(decision(printed, "r1").get("reason").asText()).isEqualTo("QUOTA_EXHAUSTED");
    assertThat(decision(printed, "r1").get("retry_at_ms").isNull()).isTrue();
    assertThat(word(decision(printed, "r2"))).isEqualTo("REJECT");
    assertThat(word(decision(printed, "r3"))).isEqualTo("GRANT");
    assertThat(events(printed, "LeaseGranted").stream().filter(e -> at(e) < 86_400_001))
        .hasSize(c.at("/expect/upstream_calls").intValue());
  }

  private static void shouldPauseAndKeepTheLevelAfterAnOverload(JsonNode c) {
    // given
    ObjectNode overload = settle("r0", "OVERLOADED");
    signal(overload, c.at("/given/status").asInt(), c.at("/expect/class").asText());
    ObjectNode quota = quota("tokens", 6000);
    Script script =
        new Script()
            .line(0, "quota", quota)
            .request(0, "r0", 100)
            .line(10, "settle", overload)
            .show(10)
            .request(10, "r1", 100);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "MarginCut")).hasSize(c.at("/expect/margin_change").intValue());
    assertThat(states(printed).get(0).at("/levels/tokens").longValue()).isEqualTo(5900);
    assertThat(word(decision(printed, "r1"))).isEqualTo("QUEUED");
    assertThat(at(events(printed, "LeaseGranted").get(1))).isBetween(510L, 30_010L);
  }

  private static void shouldHoldTheQueueToo(JsonNode c) {
    // given
    ObjectNode quota = quota("requests", c.at("/given/rpm_level").asLong());
    quota
        .withObject("limits")
        .put("concurrent_requests", c.at("/given/concurrency_limit").asLong());
    quota.putObject("level").put("requests", c.at("/given/rpm_level").asLong());
    ObjectNode refusal = settle("A", "RATE_LIMITED");
    signal(refusal, 429, "RATE_LIMITED")
        .put("retry_after_ms", ms(c.at("/when/2/got_429_retry_after_s")));
    long notBeforeMs = ms(c.at("/expect/B_not_before_s"));
    Script script =
        new Script()
            .line(0, "quota", quota)
            .request(ms(c.at("/when/0/t_s")), "A", 0)
            .request(ms(c.at("/when/1/t_s")), "B", 0)
            .line(ms(c.at("/when/2/t_s")), "settle", refusal)
            .show(notBeforeMs - 1)
            .show(notBeforeMs);

    // when
    List<JsonNode> printed = script.run();

    // then: the bucket stays at what a margin cut leaves of it, until B goes
    List<JsonNode> states = states(printed);
    assertThat(at(events(printed, "LeaseGranted").get(1))).isEqualTo(notBeforeMs);
    assertThat(states.get(0).at("/levels/requests").longValue()).isEqualTo(4);
    assertThat(states.get(1).at("/levels/requests").longValue()).isEqualTo(3);
  }

  private static void shouldLendAllToTheOnlyOneWhoAsks(JsonNode c) {
    // given
    ObjectNode quota = quota("tokens", c.at("/given/tpm_limit").asLong());
    quota.putObject("level").put("tokens", c.at("/given/tpm_limit").asLong());
    Script script = new Script().line(0, "quota", quota);
    JsonNode asked = c.at("/when/0/lease_tokens");
    for (int i = 0; i < asked.size(); i++) {
      script.line(
          "{'at_ms':0,'request':{'id':'r%d','quota':'q','agent':'only','input_tokens':%d}}"
              .formatted(i, asked.get(i).asLong()));
    }

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(grantedAt(printed, 0)).isEqualTo(c.at("/expect/granted").longValue());
  }

  private static void shouldStartANewcomerAtTheVirtualTime(JsonNode c) {
    // given: A has used up the virtual time of the case, and nothing is left
    long virtualTime = c.at("/given/vtime").asLong();
    long each = c.at("/when/0/tokens_each").asLong();
    ObjectNode quota = quota("tokens", 60 * each).put("max_queue_wait", "10m");
    quota.putObject("level").put("tokens", virtualTime);
    Script script = new Script().line(0, "quota", quota);
    script.line(0, "request", ask("A", "A-before", virtualTime)).show(0);
    for (int i = 0; i < c.at("/when/0/B_enqueues").asInt(); i++) {
      script.line(0, "request", ask("B", "B-" + i, each));
    }
    for (int i = 0; i < c.at("/when/0/A_enqueues").asInt(); i++) {
      script.line(0, "request", ask("A", "A-" + i, each));
    }
    script.show(1000);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(states(printed).get(0).get("virtual_time").longValue()).isEqualTo(virtualTime);
    assertThat(states(printed).get(1).get("virtual_time").longValue())
        .isEqualTo(c.at("/expect/B_first_vfinish").longValue());
    List<String> order =
        events(printed, "LeaseGranted").stream()
            .skip(1)
            .map(line -> line.get("request").asText().substring(0, 1))
            .toList();
    List<String> alternating = new ArrayList<>();
    for (int i = 0; i < order.size(); i++) {
      alternating.add(i % 2 == 0 ? "B" : "A");
    }
    assertThat(order).hasSize(40).isEqualTo(alternating);
    assertThat(c.at("/expect/order").asText()).startsWith("alternating");
  }

  private static void shouldExpireAndGrantWithoutTraffic(JsonNode c) {
    // given
    Matcher tokens = Pattern.compile("(\\d+) tokens").matcher(c.at("/when/0/queued").asText());
    assertThat(tokens.find()).isTrue();
    long needed = Long.parseLong(tokens.group(1));
    ObjectNode quota = quota("tokens", needed).put("max_queue_wait", "5m");
    quota.put("lease_ttl_ms", ms(c.at("/given/lease_ttl_s")));
    quota.putObject("depth").put("tokens", needed);
    Script script = new Script().line(0, "quota", quota);
    script.request(0, "X", needed).request(0, "Y", needed);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(at(events(printed, "LeaseExpired").get(0)))
        .isLessThanOrEqualTo(ms(c.at("/when/1/t_s")));
    assertThat(at(events(printed, "LeaseGranted").get(1)))
        .isEqualTo(decision(printed, "Y").get("eta_ms").longValue());
  }

  private static ObjectNode tokenQuota(JsonNode c) {
    ObjectNode quota = quota("tokens", c.at("/given/limit_per_min").asLong());
    quota.putObject("level").put("tokens", c.at("/given/level").asLong());
    if (c.at("/given").has("margin")) {
      quota.putObject("margin").put("start", c.at("/given/margin").doubleValue());
    }
    if (c.at("/given").has("max_queue_wait_s")) {
      quota.put("max_queue_wait_ms", ms(c.at("/given/max_queue_wait_s")));
    }
    return quota;
  }

  /** A quota of one limited dimension, without margin. */
  private static ObjectNode quota(String dimension, long limit) {
    ObjectNode quota = JSON.createObjectNode().put("id", "q");
    boolean perMinute = !dimension.equals("concurrent_requests");
    quota.putObject("limits").put(dimension + (perMinute ? "_per_minute" : ""), limit);
    quota.putObject("margin").put("start", 1.0);
    return quota;
  }

  private static ObjectNode ask(String agent, String id, long tokens) {
    ObjectNode body = JSON.createObjectNode().put("id", id).put("quota", "q").put("agent", agent);
    return body.put("input_tokens", tokens);
  }

  private static ObjectNode output(String id, long tokens) {
    return ask("a", id, 0).put("max_output_tokens", tokens);
  }

  private static ObjectNode settle(String request, String outcome) {
    ObjectNode body = JSON.createObjectNode().put("request", request).put("quota", "q");
    return body.put("outcome", outcome);
  }

  private static ObjectNode signal(ObjectNode settle, int status, String kind) {
    return settle.putObject("signal").put("status", status).put("class", kind);
  }

  private static String word(JsonNode decision) {
    switch (decision.get("event").asText()) {
      case "LeaseGranted":
        return "GRANT";
      case "LeaseQueued":
        return "QUEUED";
      default:
        return "REJECT";
    }
  }

  private static long grantedAt(List<JsonNode> printed, long atMs) {
    return events(printed, "LeaseGranted").stream().filter(line -> at(line) == atMs).count();
  }

  private static long at(JsonNode line) {
    return line.get("at_ms").longValue();
  }

  private static long ms(JsonNode seconds) {
    return Math.round(seconds.doubleValue() * 1000);
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(element -> texts.add(element.asText()));
    return texts;
  }
}
