package dev.fairway.replay.script;

import static dev.fairway.replay.script.CollectedCases.ask;
import static dev.fairway.replay.script.CollectedCases.at;
import static dev.fairway.replay.script.CollectedCases.grantedAt;
import static dev.fairway.replay.script.CollectedCases.ms;
import static dev.fairway.replay.script.CollectedCases.quota;
import static dev.fairway.replay.script.CollectedCases.settle;
import static dev.fairway.replay.script.CollectedCases.texts;
import static dev.fairway.replay.script.CollectedCases.tokenQuota;
import static dev.fairway.replay.script.CollectedCases.word;
import static dev.fairway.replay.script.Script.decision;
import static dev.fairway.replay.script.Script.events;
import static dev.fairway.replay.script.Script.states;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The collected cases about what is granted, and when. */
class AdmissionCasesTest {
  private static final Map<String, Consumer<JsonNode>> CHECKS = checks();

  private static Map<String, Consumer<JsonNode>> checks() {
    Map<String, Consumer<JsonNode>> checks = new TreeMap<>();
    checks.put("C01", AdmissionCasesTest::shouldChargeBeforeTheNextCheck);
    checks.put("C02", AdmissionCasesTest::shouldQueueWithTheTimeThatIsMissing);
    checks.put("C05", AdmissionCasesTest::shouldRejectWhatNeverFitsAndServeTheNext);
    checks.put("C06", AdmissionCasesTest::shouldCountARefillThatHasBegun);
    checks.put("C07", AdmissionCasesTest::shouldStayFullAfterAMonth);
    checks.put("C09", AdmissionCasesTest::shouldNotRefillTwiceAfterAClockStepsBack);
    checks.put("C10", AdmissionCasesTest::shouldKeepEachRollingMinuteWithinTheLimit);
    checks.put("C13", AdmissionCasesTest::shouldChargeTheDefaultForAMissingEstimate);
    checks.put("C15", AdmissionCasesTest::shouldCountAllInstancesTogether);
    checks.put("C16", AdmissionCasesTest::shouldChargeACachedPrefixOnlyWhenCold);
    checks.put("C24", AdmissionCasesTest::shouldFreeTheSlotsOfLostLeases);
    checks.put("C27", AdmissionCasesTest::shouldGrantARepeatedRequestOnce);
    checks.put("C49", AdmissionCasesTest::shouldLendAllToTheOnlyOneWhoAsks);
    checks.put("C51", AdmissionCasesTest::shouldStartANewcomerAtTheVirtualTime);
    checks.put("C58", AdmissionCasesTest::shouldExpireAndGrantWithoutTraffic);
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

  private static void shouldKeepEachRollingMinuteWithinTheLimit(JsonNode c) {
    // given
    long limit = c.at("/given/limit_per_min").longValue();
    long windowMs = 60_000;
    List<JsonNode> asBucket = greedy(c, limit, "TOKEN_BUCKET");
    List<JsonNode> rolling = greedy(c, limit, "ROLLING");

    // then
    assertThat(mostWithin(asBucket, windowMs))
        .as("what a full bucket lets through in a strict minute")
        .isEqualTo(c.at("/expect/grants_in_first_60s_if_capacity_equals_limit").longValue());
    assertThat(mostWithin(rolling, windowMs)).isLessThanOrEqualTo(limit);
    assertThat(events(rolling, "LeaseGranted").size()).as("in three minutes").isGreaterThan(20);
  }

  /** Someone who asks again and again, for three of the case's minutes. */
  private static List<JsonNode> greedy(JsonNode c, long limit, String window) {
    ObjectNode quota = quota("requests", limit).put("window", window);
    Script script = new Script().line(0, "quota", quota);
    long stepMs = c.at("/when/0/step_ms").longValue();
    long untilMs = 3 * ms(c.at("/when/0/greedy_consumer_s"));
    for (long atMs = 0; atMs < untilMs; atMs += stepMs) {
      String id = "r" + atMs;
      script.line(atMs, "request", ask("a", id, 1));
      script.line(atMs, "settle", settle(id, "SUCCEEDED"));
    }
    return script.run();
  }

  private static long mostWithin(List<JsonNode> printed, long windowMs) {
    List<Long> times = events(printed, "LeaseGranted").stream().map(CollectedCases::at).toList();
    long most = 0;
    int oldest = 0;
    for (int i = 0; i < times.size(); i++) {
      while (times.get(i) - times.get(oldest) >= windowMs) {
        oldest++;
      }
      most = Math.max(most, i - oldest + 1);
    }
    return most;
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
}
