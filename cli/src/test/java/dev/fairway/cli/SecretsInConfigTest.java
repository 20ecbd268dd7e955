package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import dev.fairway.admission.AdmissionConfig;
import dev.fairway.agent.gateway.Gateway;
import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.InvalidConfigException;
import dev.fairway.cli.config.QuotaYaml;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A key that stands anywhere in a fairway.yaml, as a value or as a name: no error shows it. */
class SecretsInConfigTest {
  private static final int SEED = 20260101;
  private static final String LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  private static final String ALPHANUMERIC = LETTERS + "0123456789";
  private static final String BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

  private static final ObjectMapper YAML =
      new ObjectMapper(
          YAMLFactory.builder().disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER).build());

  /** Every section and every kind of field. */
  private static final String FULL =
      """
      quotas:
        - id: k/q
          provider: anthropic
          policy: FAIRWAY
          state: ACTIVE
          models: ["claude-*"]
          also: [k/all]
          limits: {requests_per_minute: 1000, input_tokens_per_minute: 450000, output_tokens_per_minute: 90000, tokens_per_minute: 500000, concurrent_requests: 5}
          window: TOKEN_BUCKET
          depth: {requests: 10, input_tokens: 30000}
          level: {requests: 10, input_tokens: 0}
          margin: {mode: AUTO, start: 0.85, floor: 0.60, cut: 0.05, creep: 0.01, clean_interval: 3m}
          lease_ttl: 120s
          late_settlement_window: 10m
          output_reservation: LEARNED
          default_estimate: 2000
          max_queue_wait: 60s
          queue_max: 10000
          queue_max_per_agent: 1000
          budgets: {retries_per_task: 12, calls_per_task: 100, retry_share: 0.1}
          roles: {planner: 3.0, worker: 1.0}
          classes: {interactive: {reserve: 0.2}}
          tenants: {pay: {weight: 2, ceiling: 0.5, agents: ["pay-*"], roles: [worker], classes: [batch], max_unblocks: 8, signing_key_ref: vault/pay}}
        - {id: k/all, limits: {requests_per_minute: 4000}}
      admission: {health.port: 8080}
      kafka: {client.dns.lookup: use_all_dns_ips}
      gateway:
        id: gw
        host: 127.0.0.1
        port: 8787
        mode: OBSERVE
        modes: {k/q: ENFORCE}
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
          - {models: ["claude-*"], quota: k/q, upstream: anthropic}
        callers:
          - {name: team, token: {env: TEAM_TOKEN}, tenant: t, roles: [reviewer, worker], role: worker, classes: [batch], class: batch, operator: true}
      """;

  /** Ways in which a value may hold a secret. */
  private static final List<UnaryOperator<String>> WRITTEN =
      List.of(
          secret -> secret,
          secret -> "Bearer " + secret,
          secret -> "https://" + secret + ".example.com",
          secret -> "https://user:" + secret + "@example.com:port",
          secret -> "https://example.com/?key=" + secret,
          secret -> "https://example.com:1/" + secret + "/v1",
          secret -> "http://" + secret);

  static List<String> secrets() {
    Random random = new Random(SEED);
    byte[] bytes = new byte[32];
    random.nextBytes(bytes);
    String hex = HexFormat.of().formatHex(bytes);
    String base64 = Base64.getEncoder().encodeToString(bytes);
    String url64 = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    String base32 = chars(random, BASE32, 32);
    return List.of(
        "sk-" + chars(random, ALPHANUMERIC, 48),
        "sk-proj-" + url64 + "_" + chars(random, ALPHANUMERIC, 60),
        "sk-ant-api03-" + url64 + "-" + chars(random, ALPHANUMERIC, 40) + "AA",
        "sk-or-v1-" + hex,
        "sk_live_" + chars(random, ALPHANUMERIC, 24),
        "AKIA" + chars(random, BASE32, 16),
        "ASIA" + chars(random, BASE32, 16),
        chars(random, ALPHANUMERIC + "+/", 40),
        "AIza" + chars(random, ALPHANUMERIC + "-_", 35),
        "ya29." + chars(random, ALPHANUMERIC + "-_", 80),
        "gsk_" + chars(random, ALPHANUMERIC, 52),
        "csk-" + chars(random, ALPHANUMERIC.toLowerCase(Locale.ROOT), 48),
        "xai-" + chars(random, ALPHANUMERIC, 80),
        "hf_" + chars(random, LETTERS, 34),
        "ghp_" + chars(random, ALPHANUMERIC, 36),
        "github_pat_" + chars(random, ALPHANUMERIC, 22) + "_" + chars(random, ALPHANUMERIC, 59),
        "glpat-" + chars(random, ALPHANUMERIC, 20),
        "xoxb-" + "123456789012-" + chars(random, ALPHANUMERIC, 24),
        "r8_" + chars(random, ALPHANUMERIC, 37),
        "pplx-" + chars(random, ALPHANUMERIC.toLowerCase(Locale.ROOT), 48),
        "eyJhbGciOiJIUzI1NiJ9." + url64 + "." + url64,
        hex,
        hex.toUpperCase(Locale.ROOT),
        hex.substring(0, 32),
        base64,
        url64,
        base32,
        base32.toLowerCase(Locale.ROOT),
        base32.substring(0, 16),
        new UUID(random.nextLong(), random.nextLong()).toString(),
        chars(random, ALPHANUMERIC, 16),
        chars(random, ALPHANUMERIC.toLowerCase(Locale.ROOT), 20));
  }

  private static final Map<String, List<String>> PARTS = new HashMap<>();

  @TempDir Path folder;

  @Test
  void shouldBeginWithAFileThatIsRight() throws IOException {
    // when / then: so that what is wrong later is what was put there
    assertThat(QuotaYaml.parse(FULL, "fairway.yaml").gateway().config().callers()).hasSize(1);
  }

  @ParameterizedTest
  @MethodSource("secrets")
  void shouldNotShowItAsAValue(String secret) throws IOException {
    // given
    int[] errors = {0};
    atEveryPlace(
        (root, place) -> {
          boolean address = place.name().equals("url");
          for (UnaryOperator<String> written : address ? WRITTEN : WRITTEN.subList(0, 2)) {
            // when
            place.set(TextNode.valueOf(written.apply(secret)));

            // then
            List<String> told = told(root);
            errors[0] += told.size();
            assertThat(told).as(place.path()).allSatisfy(error -> assertHidden(error, secret));
          }
        });
    assertThat(errors[0]).isGreaterThan(100);
  }

  @ParameterizedTest
  @MethodSource("secrets")
  void shouldNotShowItAsAName(String secret) throws IOException {
    // given
    int[] errors = {0};
    atEveryPlace(
        (root, place) -> {
          if (place.parent() instanceof ObjectNode parent) {
            // when: in place of the name, and beside it
            JsonNode value = parent.remove(place.name());
            parent.set(secret, value);
            List<String> told = new ArrayList<>(told(root));
            parent.set(place.name(), value);
            told.addAll(told(root));
            parent.remove(secret);

            // then
            errors[0] += told.size();
            assertThat(told).as(place.path()).allSatisfy(error -> assertHidden(error, secret));
          }
        });
    assertThat(errors[0]).isGreaterThan(50);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gateway: {key: %s: x}",
        "gateway:\n\tkey: %s",
        "gateway: {key: \"%s",
        "gateway: {key: *%s}",
        "gateway: {key: !%s x}",
        "gateway: {key: \"\\q%s\"}",
        "gateway: {key: @%s}",
        "gateway: {key: `%s}",
        "gateway: {key: %%%s}",
        "gateway: {%s: 1, %s: 2}",
        "%%%s x",
        "%s",
        "- %s",
        "gateway: &%s x\nkafka: *%s",
        "%%TAG !e! %s\n---\ngateway: !e!x y"
      })
  void shouldNotShowItWhereAFileCannotBeRead(String text) {
    for (String secret : secrets()) {
      // when
      List<String> told = told(text.formatted(secret, secret));

      // then
      assertThat(told).isNotEmpty().allSatisfy(error -> assertHidden(error, secret));
    }
  }

  /** Kafka's errors about its settings come when its clients are made. */
  @ParameterizedTest
  @ValueSource(strings = {"acks: %s", "receive.buffer.bytes: %s", "security.protocol: %s"})
  void shouldNotShowItAsASettingOfKafka(String setting) throws IOException {
    for (String secret : List.of(secrets().get(20))) {
      // given
      Path file = folder.resolve("fairway.yaml");
      Files.writeString(
          file,
          "quotas: [{id: k/q, limits: {requests_per_minute: 1}}]\nkafka: {"
              + setting.formatted(secret)
              + "}\n",
          StandardCharsets.UTF_8);
      StringWriter err = new StringWriter();

      // when
      int exit =
          Fairway.commandLine()
              .setErr(new PrintWriter(err))
              .execute(
                  "up",
                  "--config=" + file,
                  "--data=" + folder.resolve("data"),
                  "--bootstrap=127.0.0.1:1");

      // then
      assertThat(exit).isNotZero();
      assertHidden(err.toString(), secret);
    }
  }

  /** The whole of it, or any part that would be of use. */
  private static void assertHidden(String error, String secret) {
    for (String part : PARTS.computeIfAbsent(secret, SecretsInConfigTest::parts)) {
      if (error.contains(part)) {
        fail("Expected nothing of %s, but found %s in: %s", secret, part, error);
      }
    }
  }

  private static List<String> parts(String secret) {
    return Stream.concat(
            Stream.of(secret),
            IntStream.rangeClosed(0, secret.length() - 10)
                .mapToObj(i -> secret.substring(i, i + 10))
                .filter(part -> !part.matches("[a-z_-]+.*|.*123456789.*")))
        .toList();
  }

  /** What all that reads a configuration says of it before anything is started. */
  private static List<String> told(JsonNode root) {
    try {
      return told(YAML.writeValueAsString(root));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> told(String text) {
    FairwayConfig config;
    try {
      config = QuotaYaml.parse(text, "fairway.yaml");
    } catch (InvalidConfigException e) {
      return e.errors();
    }
    List<String> told = new ArrayList<>();
    if (config.gateway() != null) {
      try {
        Gateway.check(config.gateway().config());
      } catch (IllegalArgumentException e) {
        told.add(e.getMessage());
      }
    }
    Map<String, String> settings = new HashMap<>(config.admission());
    settings.put(AdmissionConfig.BOOTSTRAP_SERVERS, "127.0.0.1:1");
    settings.put(AdmissionConfig.SCHEMA_REGISTRY_URL, "http://127.0.0.1:1");
    settings.putIfAbsent(AdmissionConfig.STATE_DIR, "target/none");
    try {
      AdmissionConfig.of(settings);
    } catch (ConfigException e) {
      told.add(Fairway.messageOf(e));
    }
    return told;
  }

  private record Place(JsonNode parent, String name, String path) {
    void set(JsonNode value) {
      if (parent instanceof ObjectNode object) {
        object.set(name, value);
      } else {
        ((ArrayNode) parent).set(Integer.parseInt(name), value);
      }
    }

    JsonNode value() {
      return parent.isArray() ? parent.get(Integer.parseInt(name)) : parent.get(name);
    }
  }

  /** Visits every value of the file, also lists and objects; each finds all others as they are. */
  private static void atEveryPlace(BiConsumer<JsonNode, Place> visitor) throws IOException {
    JsonNode root = YAML.readTree(FULL);
    places(root, "")
        .forEach(
            place -> {
              JsonNode before = place.value();
              visitor.accept(root, place);
              place.set(before);
            });
  }

  private static List<Place> places(JsonNode node, String path) {
    List<Place> places = new ArrayList<>();
    Stream<String> names =
        node.isObject()
            ? node.properties().stream().map(Map.Entry::getKey)
            : Stream.iterate(0, i -> i + 1).limit(node.size()).map(String::valueOf);
    names
        .toList()
        .forEach(
            name -> {
              Place place = new Place(node, name, path + "/" + name);
              places.add(place);
              places.addAll(places(place.value(), place.path()));
            });
    return places;
  }

  private static String chars(Random random, String of, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(of.charAt(random.nextInt(of.length())));
    }
    return text.toString();
  }
}
