package dev.fairway.replay.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.mapping.QuotaMapper;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.CostRule;
import dev.fairway.schemas.LeaseClass;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.OutputReservation;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Rules;
import dev.fairway.schemas.Tenant;
import java.util.List;
import java.util.Map;
import org.apache.avro.JsonProperties;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuotaJsonTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void shouldTakeTheRecordsDefaultsForOmittedFields() throws Exception {
    // given
    JsonNode tree = JSON.readTree("{\"id\":\"k\",\"limits\":{\"requests_per_minute\":5}}");

    // when
    Quota quota = QuotaJson.parse(tree);

    // then
    assertThat(quota.getLimits()).isEqualTo(Limits.newBuilder().setRequestsPerMinute(5L).build());
    for (Schema.Field field : Quota.getClassSchema().getFields()) {
      if (field.hasDefaultValue()) {
        Object expected =
            field.defaultVal() == JsonProperties.NULL_VALUE ? null : field.defaultVal();
        Object found = quota.get(field.pos());
        assertThat(found instanceof Enum ? found.toString() : found)
            .as(field.name())
            .isEqualTo(expected);
      }
    }
  }

  @Test
  void shouldReadEveryField() throws Exception {
    // given
    JsonNode tree =
        JSON.readTree(
            """
            {"id":"k/m","provider":"anthropic","policy":"SEED","window":"TOKEN_BUCKET",
             "models":["claude-*"],"also":["k/all"],
             "limits":{"input_tokens_per_minute":30000,"concurrent_requests":4,"tokens_per_minute":null},
             "depth":{"input_tokens":30000},"level":{"input_tokens":-100},
             "margin":{"mode":"RATE","start":1.0,"floor":0.6,"cut":0.05,"creep":0.01,"clean_interval":"3m"},
             "lease_ttl":"120s","max_queue_wait_ms":60000,"output_reservation":"MAX_TOKENS",
             "default_estimate":2000,"output_burndown":5,"cache_reads_count":true,"late_settlement_window":"10m","queue_max":7,
             "queue_max_per_agent":3,"budgets":{"retries_per_task":12,"retry_share":0.1},
             "classes":{"interactive":{"reserve":0.2}},
             "tenants":{"t1":{"weight":2,"ceiling":0.5,"agents":["pay-*"],"roles":["worker"],"max_unblocks":8}},
             "roles":{"planner":3.0},"rules":{"cost":"DOMINANT","backfill":true,"loop_decay":false},"state":"PAUSED","clear_count":2}
            """);

    // when
    Quota quota = QuotaJson.parse(tree);

    // then
    assertThat(quota.getPolicy()).isEqualTo(PolicyPreset.SEED);
    assertThat(quota.getModels()).containsExactly("claude-*");
    assertThat(quota.getAlso()).containsExactly("k/all");
    assertThat(quota.getLimits())
        .isEqualTo(
            Limits.newBuilder().setInputTokensPerMinute(30000L).setConcurrentRequests(4L).build());
    assertThat(quota.getDepth()).isEqualTo(Amounts.newBuilder().setInputTokens(30000L).build());
    assertThat(quota.getLevel()).isEqualTo(Amounts.newBuilder().setInputTokens(-100L).build());
    assertThat(quota.getMargin())
        .isEqualTo(
            Margin.newBuilder()
                .setMode(MarginMode.RATE)
                .setStart(1.0)
                .setFloor(0.6)
                .setCut(0.05)
                .setCreep(0.01)
                .setCleanIntervalMs(180_000L)
                .build());
    assertThat(quota.getLeaseTtlMs()).isEqualTo(120_000L);
    assertThat(quota.getMaxQueueWaitMs()).isEqualTo(60_000L);
    assertThat(quota.getLateSettlementWindowMs()).isEqualTo(600_000L);
    assertThat(quota.getOutputReservation()).isEqualTo(OutputReservation.MAX_TOKENS);
    assertThat(quota.getOutputBurndown()).isEqualTo(5);
    assertThat(quota.getCacheReadsCount()).isTrue();
    assertThat(quota.getQueueMax()).isEqualTo(7);
    assertThat(quota.getQueueMaxPerAgent()).isEqualTo(3);
    assertThat(quota.getBudgets().getRetriesPerTask()).isEqualTo(12);
    assertThat(quota.getBudgets().getCallsPerTask()).isNull();
    assertThat(quota.getClasses())
        .isEqualTo(Map.of("interactive", LeaseClass.newBuilder().setReserve(0.2).build()));
    assertThat(quota.getTenants())
        .isEqualTo(
            Map.of(
                "t1",
                Tenant.newBuilder()
                    .setWeight(2.0)
                    .setCeiling(0.5)
                    .setAgents(List.of("pay-*"))
                    .setRoles(List.of("worker"))
                    .setMaxUnblocks(8)
                    .build()));
    assertThat(quota.getRoles()).isEqualTo(Map.of("planner", 3.0));
    assertThat(quota.getRules())
        .isEqualTo(
            Rules.newBuilder()
                .setCost(CostRule.DOMINANT)
                .setBackfill(true)
                .setLoopDecay(false)
                .build());
    assertThat(quota.getState().name()).isEqualTo("PAUSED");
    assertThat(quota.getClearCount()).isEqualTo(2);
  }

  @Test
  void shouldReadEveryRuleAndNoOther() throws Exception {
    for (Rule rule : Rule.values()) {
      // given
      String text =
          "{\"id\":\"k/m\",\"limits\":{\"tokens_per_minute\":1},\"rules\":{\"%s\":false}}";

      // when
      Quota quota = QuotaJson.parse(JSON.readTree(text.formatted(rule.wireName())));

      // then
      assertThat(quota.getRules().get(rule.wireName())).isEqualTo(false);
      assertThat(QuotaMapper.toEngine(quota).rules().switched()).isEqualTo(Map.of(rule, false));
    }
    JsonNode unknown =
        JSON.readTree(
            """
            {"id":"k/m","limits":{"tokens_per_minute":1},"rules":{"backfil":true,"cost":"CHEAP"}}
            """);
    assertThatThrownBy(() -> QuotaJson.parse(unknown))
        .isInstanceOf(InvalidJsonException.class)
        .hasMessageContaining("rules.backfil")
        .hasMessageContaining("rules.cost");
  }

  @Test
  void shouldReportEveryErrorAtOnce() throws Exception {
    // given
    JsonNode tree =
        JSON.readTree(
            """
            {"provider":7,"limit":{},"limits":{"requests_per_minute":1.5,"rpm":3},
             "margin":{"mode":"MAGIC","clean_interval":"3 m"},"lease_ttl":"1s","lease_ttl_ms":1000,
             "tenants":{"t1":{"weigth":2}},"roles":{"planner":"x"},"models":"all"}
            """);

    // when
    InvalidJsonException error =
        catchThrowableOfType(InvalidJsonException.class, () -> QuotaJson.parse(tree));

    // then
    assertThat(error.errors())
        .extracting(message -> message.substring(0, message.indexOf(':')))
        .containsExactlyInAnyOrder(
            "id",
            "provider",
            "limit",
            "limits.requests_per_minute",
            "limits.rpm",
            "margin.mode",
            "margin.clean_interval",
            "lease_ttl",
            "tenants.t1.weigth",
            "roles.planner",
            "models");
  }

  @Test
  void shouldSayWhatIsMissingWhereThereIsNoObject() throws Exception {
    // given
    JsonNode tree = JSON.readTree("[1]");

    // when
    InvalidJsonException error =
        catchThrowableOfType(InvalidJsonException.class, () -> QuotaJson.parse(tree));

    // then
    assertThat(error).hasMessage("expected an object {...}, but found [1]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"depth\":\"10s\"|depth: expected an object {concurrent_requests, input_tokens,"
            + " output_tokens, requests, tokens}, but found \"10s\"",
        "\"tenants\":[{}]|tenants: expected an object {name: {agents, ceiling, classes,"
            + " max_unblocks, roles, signing_key_ref, weight}}, but found [{}]",
        "\"tenants\":{\"a\":2}|tenants.a: expected an object {agents, ceiling, classes,"
            + " max_unblocks, roles, signing_key_ref, weight}, but found 2",
        "\"classes\":7|classes: expected an object {name: {reserve}}, but found 7",
        "\"roles\":[1]|roles: expected an object {name: number}, but found [1]",
      })
  void shouldNameTheFieldsOfAnObjectThatIsExpected(String field, String expected) throws Exception {
    // given
    JsonNode tree =
        JSON.readTree("{\"id\":\"k\",\"limits\":{\"requests_per_minute\":5}," + field + "}");

    // when
    InvalidJsonException error =
        catchThrowableOfType(InvalidJsonException.class, () -> QuotaJson.parse(tree));

    // then
    assertThat(error.errors()).containsExactly(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "250ms,250",
    "90s,90000",
    "3m,180000",
    "1h30m,5400000",
    "1d,86400000",
    "1.5s,1500",
    "0s,0",
    "3,",
    "s,",
    "-3s,",
    "'3s ',",
    "0.0001s,",
    "999999999999d999999999999d,",
  })
  void shouldReadDurations(String text, Long expectedMs) {
    assertThat(Durations.parseMs(text)).isEqualTo(expectedMs);
  }
}
