package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.Ids;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChecksTest {

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "a/b", "a b", "ä", "a\n"})
  void shouldRefuseAgentIdsOutOfTheGrammar(String agentId) {
    assertThatThrownBy(
            () ->
                AdmissionClientConfig.of("127.0.0.1:9092", "http://127.0.0.1:8081", agentId)
                    .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("Expected an agent id of 1 to 100 characters");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http://127.0.0.1:8081 | 127.0.0.1:9092 | Kafka brokers as host:port, but found the URL",
        "HTTPS://kafka:9092 | http://r:8081 | second argument",
        "kafka | http://r:8081 | such as 127.0.0.1:9092, but found \"kafka\"",
        "a:9092,b | http://r:8081 | but found \"b\"",
        ":9092 | http://r:8081 | but found \":9092\"",
        "' , ' | http://r:8081 | Expected bootstrapServers with an address",
        "a:9092 | r:8081 | registryUrl with a URL such as http://127.0.0.1:8081, but found \"r:8081\"",
        "a:9092 | 127.0.0.1:8081 | first argument",
        "a:9092 | '' | Expected registryUrl with an address"
      })
  void shouldRefuseAddressesThatAreNone(String servers, String registry, String expected) {
    assertThatThrownBy(() -> AdmissionClientConfig.of(servers, registry, "a").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a:9092, b:9093 | http://r1:8081,https://r2",
        "[::1]:9092 | http://[::1]:8081",
        "SASL_SSL://kafka.example.com:9092, | https://r/path/"
      })
  void shouldTakeAddressesAsKafkaDoes(String servers, String registry) {
    assertThat(AdmissionClientConfig.of(servers, registry, "a").build().bootstrapServers())
        .isEqualTo(servers);
  }

  @Test
  void shouldNotShowThePasswordOfAnAddress() {
    assertThatThrownBy(
            () -> AdmissionClientConfig.of("a:9092", "ftp://me:hunter2@r:8081", "a").build())
        .hasMessageContaining("\"r:8081\"")
        .hasMessageNotContaining("hunter2");
  }

  @Test
  void shouldRefuseAnAgentIdThatIsTooLong() {
    // given
    String longest = "a".repeat(100);
    AdmissionClientConfig.of("127.0.0.1:9092", "http://127.0.0.1:8081", longest).build();

    // when / then
    assertThatThrownBy(
            () ->
                AdmissionClientConfig.of("127.0.0.1:9092", "http://127.0.0.1:8081", longest + "a")
                    .build())
        .hasMessageContaining("(101 characters)");
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "a/b/c", "/a", "a/", "a:b"})
  void shouldRefuseQuotaIdsOutOfTheGrammar(String quota) {
    assertThatThrownBy(() -> LeaseCall.of(quota).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("Expected a quota id");
  }

  @Test
  void shouldRefuseNumbersOutOfTheirRange() {
    assertThatThrownBy(() -> LeaseCall.of("q").inputTokens(-1).build())
        .hasMessageContaining("inputTokens");
    assertThatThrownBy(() -> LeaseCall.of("q").cachedTokens(-1, null).build())
        .hasMessageContaining("cachedTokens");
    assertThatThrownBy(() -> LeaseCall.of("q").maxOutputTokens(-1).build())
        .hasMessageContaining("maxOutputTokens");
    assertThatThrownBy(() -> LeaseCall.of("q").repeatFailures(1001).build())
        .hasMessageContaining("repeatFailures");
    assertThatThrownBy(() -> LeaseCall.of("q").unblocks(-1).build())
        .hasMessageContaining("unblocks");
    assertThatThrownBy(() -> LeaseCall.of("q").timeout(Duration.ZERO).build())
        .hasMessageContaining("timeout");
    assertThatThrownBy(() -> LeaseCall.of("q").retryOf("a".repeat(65)).build())
        .hasMessageContaining("retryOf");
    assertThatThrownBy(() -> UsageReport.of(-1, 0)).hasMessageContaining("inputTokens");
    assertThatThrownBy(() -> ProviderSignal.rateLimited(Duration.ofMillis(-1)))
        .hasMessageContaining("retryAfter");
  }

  @Test
  void shouldMakeRequestIdsWithinTheGrammarAndNeverTwice() {
    // given
    RequestIds ids = new RequestIds();
    RequestIds others = new RequestIds();
    Set<String> made = new HashSet<>();

    // when
    for (int i = 0; i < 10_000; i++) {
      made.add(ids.next());
      made.add(others.next());
    }

    // then
    assertThat(made).hasSize(20_000).allMatch(Ids::isRequestId);
  }

  @Test
  void shouldMakeRequestIdsWithinTheGrammarWhateverTheRandomBytes() {
    // given
    byte[] ones = new byte[12];
    Arrays.fill(ones, (byte) 0xff);

    // when / then
    assertThat(new RequestIds(ones).next()).matches("[A-Za-z0-9._:-]{1,64}").startsWith("r____");
  }
}
