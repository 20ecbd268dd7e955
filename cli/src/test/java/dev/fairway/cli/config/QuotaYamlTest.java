package dev.fairway.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fairway.admission.engine.lease.ProviderAccounting;
import dev.fairway.agent.provider.ProviderProfiles;
import dev.fairway.cli.ops.QuotaEdits;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.Quota;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuotaYamlTest {

  private static final String FULL =
      """
      quotas:
        - id: anthropic.prod-1/sonnet
          provider: anthropic
          policy: SEED
          models: ["claude-sonnet-*"]
          limits: {requests_per_minute: 1000, input_tokens_per_minute: 450000}
          margin: {start: 0.85, floor: 0.60, cut: 0.05, creep: 0.01, clean_interval: 3m}
          lease_ttl: 120s
          max_queue_wait: 60s
          classes: {interactive: {reserve: 0.2}}
          tenants:
            payments: {weight: 2, ceiling: 0.5, agents: ["pay-*"], roles: [worker], max_unblocks: 8}
          roles: {planner: 3.0, reviewer: 2.0, worker: 1.0}
        - id: anthropic.prod-1/organisation
          limits: {requests_per_minute: 4000}
      admission: {health.port: 8080}
      kafka: {client.dns.lookup: use_all_dns_ips}
      """;

  @TempDir Path folder;

  @Test
  void shouldReadEverySection() {
    // when
    FairwayConfig config = QuotaYaml.parse(FULL, "fairway.yaml");

    // then
    Quota sonnet = config.quotas().get(0);
    assertThat(sonnet.getPolicy()).isEqualTo(PolicyPreset.SEED);
    assertThat(sonnet.getMargin().getCleanIntervalMs()).isEqualTo(180_000);
    assertThat(sonnet.getLeaseTtlMs()).isEqualTo(120_000);
    assertThat(sonnet.getTenants().get("payments").getAgents()).containsExactly("pay-*");
    assertThat(config.quotas().get(1).getPolicy()).isEqualTo(PolicyPreset.FAIRWAY);
    assertThat(config.admission()).containsEntry("health.port", "8080");
    assertThat(config.kafka()).containsEntry("client.dns.lookup", "use_all_dns_ips");
  }

  @Test
  void shouldReadBackWhatItWrites() {
    List<Quota> quotas = QuotaYaml.parse(FULL, "fairway.yaml").quotas();

    String written = QuotaYaml.toYaml(quotas);

    assertThat(QuotaYaml.parse(written, "written").quotas()).isEqualTo(quotas);
    assertThat(written)
        .contains("lease_ttl: 2m")
        .contains("clean_interval: 3m")
        .doesNotContain("_ms");
  }

  @Test
  void shouldNotWriteHowOftenAQuotaWasCleared() {
    List<Quota> quotas = QuotaYaml.parse(FULL, "fairway.yaml").quotas();

    String written = QuotaYaml.toYaml(List.of(QuotaEdits.withClearCount(quotas.get(1), 3)));

    assertThat(QuotaYaml.parse(written, "written").quotas()).containsExactly(quotas.get(1));
  }

  @Test
  void shouldReadJsonToo() {
    String json =
        "{\"quotas\":[{\"id\":\"q\",\"limits\":{\"requests_per_minute\":5},\"lease_ttl_ms\":1500}]}";

    Quota quota = QuotaYaml.parse(json, "quotas.json").quotas().get(0);

    assertThat(quota.getLeaseTtlMs()).isEqualTo(1500);
  }

  @Test
  void shouldNameEveryErrorOfAFileWithFieldAndLine() {
    // given
    String text =
        """
        quotas:
          - id: q
            limit: {requests_per_minute: 5}
            limits:
              requests_per_minute: many
            lease_ttl: 3 parsecs
          - id: a b
            limits: {requests_per_minute: 0}
            lease_ttl: 0s
            margin:
              start: 1.5
          - id: c
            limits: {}
        """;

    // when
    InvalidConfigException error =
        catchThrowableOfType(InvalidConfigException.class, () -> QuotaYaml.parse(text, "f.yaml"));

    // then
    assertThat(error.errors())
        .satisfiesExactly(
            e -> assertThat(e).startsWith("f.yaml:3: quotas[0].limit: unknown field"),
            e ->
                assertThat(e)
                    .startsWith(
                        "f.yaml:5: quotas[0].limits.requests_per_minute: expected a whole number"),
            e -> assertThat(e).startsWith("f.yaml:6: quotas[0].lease_ttl: expected a duration"),
            e -> assertThat(e).startsWith("f.yaml:7: quotas[1].id: expected 'key'"),
            e ->
                assertThat(e)
                    .startsWith("f.yaml:8: quotas[1].limits.requests_per_minute: expected 1 to"),
            e ->
                assertThat(e)
                    .startsWith("f.yaml:9: quotas[1].lease_ttl: expected 1ms to 24h, but found 0s"),
            e ->
                assertThat(e).startsWith("f.yaml:11: quotas[1].margin.start: expected 0.01 to 1.0"),
            e ->
                assertThat(e)
                    .startsWith("f.yaml:13: quotas[2].limits: expected at least one limit"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'margin: {start: 85, floor: 60%}'                                                   | margin.floor, margin.start
          'lease_ttl: 2 d, depth: {output_tokens: 5}'                                         | depth.output_tokens, lease_ttl
          'queue_max: -1, roles: {a b: 2}, state: OFF'                                        | queue_max, roles, state
          'provider: nobody, also: [q]'                                                       | also, provider
          'lease_ttl: 2 d, also: ["k/a", "k/a"], queue_max: x, default_estimate: -1'          | also, default_estimate, lease_ttl, queue_max
          """)
  void shouldTellRangesBesideTypes(String fields, String wrong) {
    String text = "quotas: [{id: k/q, limits: {requests_per_minute: 1}, " + fields + "}]";
    assertThat(wrongFields(text))
        .containsExactlyInAnyOrder(
            Stream.of(wrong.split(", ", -1))
                .map(field -> "quotas[0]." + field)
                .toArray(String[]::new));
  }

  @Test
  void shouldNotTellWhatMayBeRightOnceTheRestIs() {
    assertThat(
            wrongFields(
                "quotas: [{id: k/q, limits: {request_per_minute: 1}, depth: {requests: 5},"
                    + " models: claude-*}]\n"
                    + "gateway: {upstreams: {a: {provider: anthropic}}, modes: {k/q: OBSERVE}}"))
        .containsExactlyInAnyOrder("quotas[0].limits.request_per_minute", "quotas[0].models");
  }

  private static List<String> wrongFields(String text) {
    InvalidConfigException error =
        catchThrowableOfType(InvalidConfigException.class, () -> QuotaYaml.parse(text, "f.yaml"));
    return error.errors().stream().map(line -> line.split(": ", 3)[1]).toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'quota: []'                                         | f.yaml:1: quota: unknown section; expected one of [admission, gateway, kafka, quotas]. Did you mean quotas?
          ''                                                  | f.yaml:1: expected a section 'quotas:'
          '- id: q'                                           | f.yaml:1: expected a section 'quotas:'
          'quotas: 3'                                         | f.yaml:1: quotas: expected a list, one '- id: ...' a quota, but found '3'
          'quotas: [{id: q, id: r}]'                          | f.yaml:1: quotas[0].id: expected each field once
          'quotas: [{id: q, limits: {requests_per_minute: 1}}, {id: q, limits: {requests_per_minute: 1}}]' | expected each id once
          'quotas: [*alias]'                                  | f.yaml:1
          'quotas: ['                                         | expected YAML or JSON
          'quotas: []'                                        | f.yaml:1: quotas: expected at least one quota, '- id: ...', but found an empty list. Write one below it
          'quotas:'                                           | f.yaml:1: quotas: expected at least one quota, '- id: ...', but found nothing. Write one below it
          'quotas: [{id: q, provider: nope, limits: {requests_per_minute: 1}}]' | quotas[0].provider: expected one of [anthropic,
          'quotas: [{id: q, limits: {requests_per_minute: 1}, lease_ttl_ms: 0}]' | quotas[0].lease_ttl_ms: expected 1ms to 24h, but found 0ms
          'quotas: [{id: q, limits: {requests_per_minute: 1}, margin: {clean_interval: 48h}}]' | quotas[0].margin.clean_interval: expected 1000ms to 24h, but found 48h
          'kafka: {a: [1]}'                                   | kafka.a: expected a text or a number
          """)
  void shouldSayWhatIsWrong(String text, String message) {
    assertThatThrownBy(() -> QuotaYaml.parse(text, "f.yaml"))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void shouldSayThatYamlTakesNoTabs() {
    assertThatThrownBy(() -> QuotaYaml.parse("quotas:\n  - id: q\n\tlimits: {}\n", "f.yaml"))
        .hasMessage(
            "f.yaml:3: expected spaces, but found a tab. YAML does not take tabs for indentation");
  }

  @Test
  void shouldKnowTheProvidersThatAreParsed() {
    Set<String> taken = new TreeSet<>(ProviderAccounting.providers());
    taken.add("generic");

    assertThat(taken).containsAll(ProviderProfiles.names());
  }

  @Test
  void shouldTellWhatThisVersionDoesNotActOn() {
    List<Quota> quotas =
        QuotaYaml.parse(
                "quotas: [{id: k/q, limits: {requests_per_minute: 1}, tenants: {t: {weight: 1,"
                    + " agents: ['a*'], signing_key_ref: key}}}]",
                "fairway.yaml")
            .quotas();

    assertThat(QuotaYaml.notEnforced(quotas.get(0)))
        .contains("k/q")
        .contains("tenants.signing_key_ref");
    assertThat(QuotaYaml.notEnforced(QuotaYaml.parse(FULL, "fairway.yaml").quotas().get(1)))
        .isNull();
  }

  @Test
  void shouldRefuseAFileThatIsTooLong() throws Exception {
    Path file = folder.resolve("long.yaml");
    Files.writeString(file, "#".repeat(QuotaYaml.FILE_BYTES_MAX + 1), StandardCharsets.UTF_8);

    assertThatThrownBy(() -> QuotaYaml.read(file))
        .hasMessageContaining("expected at most 1048576 bytes");
  }

  @Test
  void shouldSayThatAFileIsNotThere() {
    assertThatThrownBy(() -> QuotaYaml.read(folder.resolve("none.yaml")))
        .hasMessageContaining("none.yaml")
        .hasMessageContaining("Check the path");
  }
}
