package dev.fairway.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.gateway.GatewayConfig.Route;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import dev.fairway.agent.gateway.SecretRef;
import dev.fairway.schemas.Quota;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StarterConfigTest {

  static Iterable<String> providers() {
    return StarterConfig.providers();
  }

  @ParameterizedTest
  @MethodSource("providers")
  void shouldHaveOneQuotaOneUpstreamAndTheRouteBetweenThem(String provider) {
    // when
    FairwayConfig config = StarterConfig.of(provider, SecretRef.ofEnv("THE_KEY"), null);

    // then
    Quota quota = config.quotas().get(0);
    assertThat(config.quotas()).hasSize(1);
    assertThat(quota.getProvider()).isEqualTo(provider);
    Upstream upstream = config.gateway().config().upstreams().get(provider);
    assertThat(upstream.url()).startsWith("https://");
    assertThat(upstream.provider()).isEqualTo(provider);
    assertThat(upstream.key()).isEqualTo(SecretRef.ofEnv("THE_KEY"));
    assertThat(config.gateway().config().routes())
        .containsExactly(new Route(List.of("*"), quota.getId(), provider));
  }
}
