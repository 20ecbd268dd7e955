package dev.fairway.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.agent.gateway.GatewayConfig;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GatewayYamlTest {
  private static final String QUOTAS =
      """
      quotas:
        - id: ant/sonnet
          provider: anthropic
          models: ["claude-sonnet-*"]
          limits: {requests_per_minute: 50}
      """;

  @Test
  void shouldReadAWholeSection() {
    // when
    GatewaySection section =
        gateway(
            """
            gateway:
              id: gw
              host: 127.0.0.1
              port: 8787
              mode: OBSERVE
              modes: {ant/sonnet: ENFORCE}
              unknown: anthropic
              patience: 30s
              patience_margin: 2s
              hold_max: 5m
              keep_alive: 15s
              upstream_idle: 3m
              drain: 10s
              bounds: {body_bytes: 1000, bodies_bytes: 100000, connections: 10, open_calls: 20, client_idle: 5s, retries: 4, requeues: 3}
              fail_mode: BACKOFF
              silent_after: 9s
              estimates: {count_tokens: true, counts_per_minute: 7, count_wait: 200ms}
              upstreams:
                anthropic: {provider: anthropic, key: {env: ANTHROPIC_API_KEY}}
                local: {provider: openai, url: "http://127.0.0.1:9/v", key: {file: /run/key}}
              routes:
                - {models: ["claude-*"], quota: ant/sonnet, upstream: anthropic}
              callers:
                - {name: team, token: {env: TEAM_TOKEN}, tenant: t, roles: [reviewer, worker], classes: [batch], operator: true}
            """);

    // then
    GatewayConfig config = section.config();
    assertThat(section.id()).isEqualTo("gw");
    assertThat(config.port()).isEqualTo(8787);
    assertThat(config.mode()).isEqualTo(Mode.OBSERVE);
    assertThat(config.modes()).isEqualTo(Map.of("ant/sonnet", Mode.ENFORCE));
    assertThat(config.unknown()).isEqualTo("anthropic");
    assertThat(config.waits().patience()).isEqualTo(Duration.ofSeconds(30));
    assertThat(config.waits().drain()).isEqualTo(Duration.ofSeconds(10));
    assertThat(config.bounds().openCalls()).isEqualTo(20);
    assertThat(config.bounds().retries()).isEqualTo(4);
    assertThat(config.estimates())
        .isEqualTo(new GatewayConfig.Estimates(true, 7, Duration.ofMillis(200)));
    assertThat(section.fallback())
        .isEqualTo(new FallbackConfig(FailMode.BACKOFF, Duration.ofSeconds(9)));
    assertThat(config.upstreams().get("anthropic").url()).isEqualTo("https://api.anthropic.com");
    assertThat(config.upstreams().get("local").key().file()).isEqualTo(Path.of("/run/key"));
    assertThat(config.routes()).hasSize(1);
    assertThat(config.callers().get(0).role()).isEqualTo("reviewer");
    assertThat(config.callers().get(0).operator()).isTrue();
  }

  @Test
  void shouldRouteTheQuotasOwnModelsWhereNoRoutesAreGiven() {
    // when
    GatewaySection section =
        gateway("gateway: {upstreams: {a: {provider: anthropic, key: {env: K}}}}\n");

    // then
    assertThat(section.id()).isEqualTo("gateway");
    assertThat(section.config().host()).isEqualTo("127.0.0.1");
    assertThat(section.config().routes())
        .containsExactly(new GatewayConfig.Route(List.of("claude-sonnet-*"), "ant/sonnet", "a"));
    assertThat(section.config().waits()).isEqualTo(GatewayConfig.Waits.DEFAULT);
    assertThat(section.fallback()).isEqualTo(FallbackConfig.DEFAULT);
    assertThat(section.config().estimates()).isEqualTo(GatewayConfig.Estimates.DEFAULT);
    assertThat(section.config().bounds()).isEqualTo(GatewayConfig.Bounds.DEFAULT);
  }

  /** Nothing named is nothing narrowed: docs/gateway.md says so. */
  @Test
  void shouldLetACallerClaimAnythingForWhomNoClaimsAreNamed() {
    // when
    GatewayConfig.Caller caller =
        gateway(
                """
                gateway:
                  upstreams: {a: {provider: anthropic, key: {env: K}}}
                  callers: [{name: team, token: {env: TEAM_TOKEN}}]
                """)
            .config()
            .callers()
            .get(0);

    // then
    assertThat(caller.roles()).isEmpty();
    assertThat(caller.classes()).isEmpty();
    assertThat(caller.tenant()).isNull();
    assertThat(caller.role()).isEqualTo("worker");
    assertThat(caller.leaseClass()).isEqualTo("batch");
    assertThat(caller.operator()).isFalse();
  }

  @Test
  void shouldHaveNoGatewayWithoutASection() {
    assertThat(QuotaYaml.parse(QUOTAS, "f.yaml").gateway()).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'gateway: {prot: 1}'                                                            | upstreams]. Did you mean port?
          'gateway: {id: "a:b"}'                                                          | gateway.id: expected an agent id without a colon
          'gateway: {id: a-gateway-in-a-house}'                                           | gateway.id: expected an agent id without a colon, up to 19 long
          'gateway: {mode: WATCH}'                                                        | gateway.mode: expected one of [ENFORCE, OBSERVE]
          'gateway: {host: 0.0.0.0}'                                                      | gateway.host: Expected callers with tokens
          'gateway: {port: 70000}'                                                        | gateway.port: Expected a port
          'gateway: {unknown: nobody}'                                                    | gateway.unknown: Expected unknown to name one of the upstreams
          'gateway: {modes: {k/q: OBSERVE}}'                                              | gateway.modes.k/q: Expected modes of quotas that routes name, [], but found k/q
          'gateway: {hold_max: 0s}'                                                       | gateway.hold_max: Expected hold_max above 0
          'gateway: {bounds: {retries: 1000000}}'                                         | gateway.bounds.retries: Expected up to
          'gateway: {bounds: {body_bytes: 5, bodies_bytes: 4}}'                           | gateway.bounds.bodies_bytes: Expected bodies_bytes of at least body_bytes
          'gateway: {bounds: {open_calls: 0}}'                                            | gateway.bounds.open_calls: Expected open_calls of 1 or more
          'gateway: {upstreams: {refuse: {provider: openai}}}'                            | gateway.upstreams.refuse: expected another name
          'gateway: {upstreams: {a: {provider: openai}}}'                                 | gateway.upstreams: expected routes, or quotas with models whose provider is one of [openai]
          'gateway: {upstreams: {a: {provider: openai, url: "http://h:99999"}}}'          | gateway.upstreams.a.url: Expected a URL
          'gateway: {upstreams: {a: {provider: openai, url: "http://h:abc"}}}'            | gateway.upstreams.a.url: Expected a URL
          'gateway: {upstreams: {a: {provider: openai, url: "http://u:pw@h"}}}'           | gateway.upstreams.a.url: Expected a URL
          'gateway: {upstreams: {a: {provider: openai, url: "http://h/?x=y"}}}'           | gateway.upstreams.a.url: Expected a URL
          'gateway: {upstreams: {a: {provider: openai, url: "http://h/v1"}}}'             | gateway.upstreams.a.url: Expected a URL such as https://api.anthropic.com for upstream a, but found one that ends in /v1
          'gateway: {upstreams: {a: {provider: openai, url: "http://h/openai/v1/"}}}'   | gateway.upstreams.a.url: Expected a URL
          'gateway: {upstreams: {a: {provider: bedrock, url: "https://bedrock-runtime.us-east-1.amazonaws.com"}}}' | gateway.upstreams.a.url: Expected a URL such as https://api.anthropic.com for upstream a, but found Bedrock's
          'gateway: {upstreams: {a: {provider: gemini, url: "https://generativelanguage.googleapis.com/"}}}' | gateway.upstreams.a.url: Expected a URL
          'gateway: {upstreams: {a: {provider: vertex, url: "https://europe-west1-aiplatform.googleapis.com"}}}' | gateway.upstreams.a.url: Expected a URL
          'gateway: {callers: [{name: a, token: {env: X}, role: planner, roles: [worker]}]}' | gateway.callers[0].role: Expected the role of caller a to be one of
          'gateway: {callers: [{name: a, token: {env: X}, class: x, classes: [batch]}]}'  | gateway.callers[0].class: Expected the class of caller a to be one of
          'gateway: {callers: [{name: a, token: {env: X}}, {name: b, token: {env: X}}]}'  | gateway.callers[1].token: Expected a token of its own
          'gateway: {callers: [{name: a, token: {env: X}}, {name: a, token: {env: Y}}]}'  | gateway.callers[1].name: Expected each caller once
          'gateway: {callers: [{name: a}]}'                                               | gateway.callers[0].token: Expected a token
          'gateway: {patience: soon}'                                                     | gateway.patience: expected a duration
          'gateway: {patience: 0s}'                                                       | Expected patience above 0
          'gateway: {upstreams: {a: {provider: mine}}}'                                   | gateway.upstreams.a.url: expected the base URL
          'gateway: {upstreams: {a: {provider: openai, key: {}}}}'                        | Expected a secret as env: NAME or file: PATH
          'gateway: {upstreams: {a: {provider: openai, key: {file: ""}}}}'                | gateway.upstreams.a.key.file: expected the path of a file
          'gateway: {callers: [{name: a, token: {file: " "}}]}'                           | gateway.callers[0].token.file: expected the path of a file
          'gateway: {upstreams: {a: {provider: openai, key: abc}}}'                       | gateway.upstreams.a.key: expected an object
          'gateway: {routes: [{models: ["x"], quota: q, upstream: b}]}'                   | Expected the route of [x] to name one of the upstreams []
          'gateway: {routes: [{models: [], quota: q, upstream: b}]}'                      | Expected a route with model patterns
          'gateway: {callers: [{name: "a b", token: {env: X}}]}'                          | name of 1 to 30 characters
          'gateway: {fail_mode: OPEN}'                                                    | gateway.fail_mode: expected one of [SAFE_SHARE, BACKOFF, CLOSED]
          'gateway: {silent_after: 0s}'                                                   | Expected a silentAfter above 0
          'gateway: {estimates: {counts_per_minute: 0}}'                                  | gateway.estimates.counts_per_minute: Expected counts_per_minute of 1 or more
          'gateway: {bounds: {body_bytes: 0}}'                                            | gateway.bounds.body_bytes: Expected body_bytes of 1 or more
          """)
  void shouldSayWhatIsWrong(String text, String message) {
    assertThatThrownBy(() -> QuotaYaml.parse(text, "f.yaml"))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining(message)
        .hasMessageStartingWith("f.yaml:1: ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'host: 0.0.0.0, port: 87870, upstreams: {a: {provider: openai}}'                      | host, port, upstreams
          'patience: soon, port: -1, unknown: x, modes: {k/q: OBSERVE}'                         | modes.k/q, patience, port, unknown
          'callers: [{name: a, token: {env: X}}, {name: a, token: {env: X}}], upstreams: {a: {provider: anthropic}}' | callers[1].name, callers[1].token, upstreams.a.key
          'host: 0.0.0.0, callers: [{name: "a b"}], port: 70000'                                | callers[0].name, port
          'upstreams: {a: {provider: mine}}, routes: [{models: ["*"], quota: k/q, upstream: a}, {models: [], quota: k/q, upstream: b}], port: x' | upstreams.a.url, routes[1].models, port
          """)
  void shouldSayAllThatIsWrongAtOnce(String section, String wrong) {
    // when
    InvalidConfigException error =
        catchThrowableOfType(
            InvalidConfigException.class, () -> gateway("gateway: {" + section + "}\n"));

    // then
    assertThat(error.errors())
        .extracting(line -> line.split(": ", 3)[1])
        .containsExactlyInAnyOrder(
            Stream.of(wrong.split(", ", -1))
                .map(field -> "gateway." + field)
                .toArray(String[]::new));
  }

  /** The most natural of all mistakes is to put the key where its place belongs. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "upstreams: {a: {provider: anthropic, key: sk-SECRET}}",
        "upstreams: {a: {provider: anthropic, key: {env: sk-SECRET}}}",
        "upstreams: {a: {provider: anthropic, key: {env: [sk-SECRET]}}}",
        "upstreams: {a: {provider: anthropic, key: [sk-SECRET]}}",
        "upstreams: {a: {provider: anthropic, key: {sk-SECRET: }}}",
        "upstreams: {a: {provider: anthropic, key: {file: \"SECRET\\0\"}}}",
        "upstreams: {a: {provider: anthropic, url: \"https://u:SECRET@h\"}}",
        "upstreams: {a: {provider: anthropic, url: \"https://h/?key=SECRET\"}}",
        "upstreams: {a: {provider: anthropic, url: sk-SECRET}}",
        "upstreams: {a: sk-SECRET}",
        "upstreams: sk-SECRET",
        "callers: [{name: a, token: SECRET}]",
        "callers: [{name: a, token: {env: [SECRET]}}]",
        "callers: [SECRET]",
        "callers: {a: SECRET}",
        "callers: SECRET"
      })
  void shouldNotShowASecretThatStandsInTheWrongPlace(String section) {
    assertThatThrownBy(() -> gateway("gateway: {" + section + "}\n"))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining("gateway.")
        .hasMessageNotContaining("SECRET");
  }

  @Test
  void shouldTakeTheDefaultOfUnknownWhereItIsWrittenOut() {
    assertThat(
            gateway("gateway: {unknown: refuse, upstreams: {a: {provider: anthropic}}}\n")
                .config()
                .unknown())
        .isNull();
  }

  @Test
  void shouldAskForRoutesWhereAProviderHasTwoUpstreams() {
    assertThatThrownBy(
            () ->
                gateway(
                    "gateway: {upstreams: {a: {provider: anthropic}, b: {provider: anthropic}}}\n"))
        .hasMessageContaining("gateway.upstreams: expected routes that say to which of [a, b]")
        .hasMessageContaining("ant/sonnet");
  }

  private static GatewaySection gateway(String section) {
    return QuotaYaml.parse(QUOTAS + section, "f.yaml").gateway();
  }
}
