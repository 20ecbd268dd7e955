package dev.fairway.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnknownQuotasTest {
  private static final FairwayConfig CONFIG =
      QuotaYaml.parse(
          """
          quotas:
            - id: k/sonnet
              provider: anthropic
              also: [k/al]
              limits: {requests_per_minute: 10}
            - id: k/all
              limits: {requests_per_minute: 10}
          gateway:
            upstreams: {anthropic: {provider: anthropic}}
            routes:
              - {models: ["claude-sonnet-*"], quota: k/sonnet, upstream: anthropic}
              - {models: ["claude-haiku-*"], quota: k/haiku, upstream: anthropic}
          """,
          "f.yaml");

  @Test
  void shouldNameWhatNobodyDefinesAndWhatWasMeant() {
    // when
    List<String> lines = UnknownQuotas.named(CONFIG, Set.of("other"));

    // then
    assertThat(lines).hasSize(2);
    assertThat(lines.get(0))
        .startsWith("quota k/sonnet: also names k/al, but neither")
        .contains("UNKNOWN_QUOTA")
        .endsWith(". Did you mean k/all?");
    assertThat(lines.get(1))
        .startsWith("gateway.routes[1].quota names k/haiku, but neither")
        .doesNotContain("Did you mean");
  }

  @Test
  void shouldSayNothingOfQuotasThatTheClusterDefines() {
    assertThat(UnknownQuotas.named(CONFIG, Set.of("k/al", "k/haiku"))).isEmpty();
  }
}
