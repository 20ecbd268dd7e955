package dev.fairway.replay.script;

import static dev.fairway.replay.script.CollectedCases.at;
import static dev.fairway.replay.script.CollectedCases.grantedAt;
import static dev.fairway.replay.script.CollectedCases.ms;
import static dev.fairway.replay.script.CollectedCases.output;
import static dev.fairway.replay.script.CollectedCases.quota;
import static dev.fairway.replay.script.CollectedCases.settle;
import static dev.fairway.replay.script.CollectedCases.signal;
import static dev.fairway.replay.script.CollectedCases.word;
import static dev.fairway.replay.script.Script.decision;
import static dev.fairway.replay.script.Script.events;
import static dev.fairway.replay.script.Script.states;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The collected cases about what a call's end and the provider's answer do. */
class SettlementCasesTest {
  private static final Map<String, Consumer<JsonNode>> CHECKS = checks();

  private static Map<String, Consumer<JsonNode>> checks() {
    Map<String, Consumer<JsonNode>> checks = new TreeMap<>();
    checks.put("C04", SettlementCasesTest::shouldLearnALimitFromARefusalForSize);
    checks.put("C22", SettlementCasesTest::shouldGoIntoDebtAndWaitItOut);
    checks.put("C25", SettlementCasesTest::shouldSettleOnce);
    checks.put("C29", SettlementCasesTest::shouldWaitForTheResetWithoutRetryAfter);
    checks.put("C31", SettlementCasesTest::shouldTakeSentinelsAsUnknown);
    checks.put("C39", SettlementCasesTest::shouldTakeRetryAfterAsAFloor);
    checks.put("C40", SettlementCasesTest::shouldRejectUntilAnOperatorClearsABillingStop);
    checks.put("C45", SettlementCasesTest::shouldPauseAndKeepTheLevelAfterAnOverload);
    checks.put("C48", SettlementCasesTest::shouldHoldTheQueueToo);
    return checks;
  }

  static Set<String> ids() {
    return CHECKS.keySet();
  }

  @ParameterizedTest
  @MethodSource("ids")
  void shouldGiveTheExpectedValue(String id) {
    // given
    JsonNode collected = CollectedCases.get(id);

    // then
    CHECKS.get(id).accept(collected);
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
    // And everybody who was told to come back then does.
    Script herd = new Script().line(0, "quota", quota("requests", 600));
    herd.request(0, "first", 0).request(0, "r0", 0).line(0, "settle", refusal);
    for (int i = 0; i < 30; i++) {
      herd.request(waitMs, "back-" + i, 0);
    }

    // when
    List<JsonNode> granted = events(script.run(), "LeaseGranted");

    // then: besides the two grants that brought it about
    assertThat(granted.get(2).get("at_ms").longValue())
        .isGreaterThanOrEqualTo(ms(c.at("/expect/first_grant_not_before_s")));
    // and not all at once: 600 a minute are 10 a second, half of that at first
    assertThat(c.at("/expect/spread").asText()).contains("ramped, not all at 171");
    List<JsonNode> back = events(herd.run(), "LeaseGranted");
    assertThat(back).hasSize(32);
    assertThat(back.stream().filter(e -> at(e) == waitMs)).hasSize(1);
    assertThat(back.stream().filter(e -> at(e) >= waitMs && at(e) < waitMs + 2_000))
        .hasSizeBetween(9, 12);
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
    for (int i = 0; i < 20; i++) {
      script.request(20, "w" + i, 100);
    }

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "MarginCut")).hasSize(c.at("/expect/margin_change").intValue());
    assertThat(states(printed).get(0).at("/levels/tokens").longValue()).isEqualTo(5900);
    assertThat(word(decision(printed, "r1"))).isEqualTo("QUEUED");
    assertThat(c.at("/expect/grants").asText())
        .isEqualTo("short pause, then ramp; token level not forced to 0");
    List<JsonNode> granted = events(printed, "LeaseGranted");
    long resumedMs = at(granted.get(1));
    assertThat(resumedMs).isBetween(510L, 30_010L);
    assertThat(granted.stream().filter(e -> at(e) == resumedMs)).hasSize(1);
    // 100 tokens are a second of the rate, and two at its half.
    assertThat(at(granted.get(4)) - resumedMs).isBetween(4_000L, 6_000L);
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
}
