package dev.fairway.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdsTest {

  @ParameterizedTest
  @ValueSource(strings = {"a", "anthropic.prod-1", "A_Z.0-9", "...", "-"})
  void shouldAcceptKeys(String key) {
    assertThat(Ids.isKey(key)).isTrue();
    assertThat(Ids.isQuotaId(key)).isTrue();
    assertThat(Ids.isId(key)).isTrue();
    assertThat(Ids.isRequestId(key)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a b", "a/b/c", "/a", "a/", "ä", "a\n", "a\u0000", "a@b", "①"})
  void shouldRefuseWhatIsInNoGrammar(String text) {
    assertThat(Ids.isKey(text)).isFalse();
    assertThat(Ids.isQuotaId(text)).isFalse();
    assertThat(Ids.isId(text)).isFalse();
    assertThat(Ids.isRequestId(text)).isFalse();
  }

  @Test
  void shouldAllowColonInIdsOnly() {
    assertThat(Ids.isId("team:agent-1")).isTrue();
    assertThat(Ids.isRequestId("run:1")).isTrue();
    assertThat(Ids.isKey("a:b")).isFalse();
    assertThat(Ids.isQuotaId("a/b:c")).isFalse();
  }

  @Test
  void shouldAllowOneSlashInQuotaIdsOnly() {
    assertThat(Ids.isQuotaId("anthropic.prod-1/sonnet")).isTrue();
    assertThat(Ids.isKey("a/b")).isFalse();
    assertThat(Ids.isId("a/b")).isFalse();
  }

  @Test
  void shouldBoundLengths() {
    String hundred = "x".repeat(100);
    assertThat(Ids.isKey(hundred)).isTrue();
    assertThat(Ids.isKey(hundred + "x")).isFalse();
    assertThat(Ids.isId(hundred)).isTrue();
    assertThat(Ids.isId(hundred + "x")).isFalse();
    assertThat(Ids.isQuotaId(hundred + "/" + hundred)).isTrue();
    assertThat(Ids.isQuotaId(hundred + "/" + hundred + "x")).isFalse();
    assertThat(Ids.isRequestId("x".repeat(64))).isTrue();
    assertThat(Ids.isRequestId("x".repeat(65))).isFalse();
  }

  @Test
  void shouldRefuseNull() {
    assertThat(Ids.isKey(null)).isFalse();
    assertThat(Ids.isQuotaId(null)).isFalse();
    assertThat(Ids.isId(null)).isFalse();
    assertThat(Ids.isRequestId(null)).isFalse();
  }

  @Test
  void shouldTakeTheKeyOutOfAQuotaId() {
    assertThat(Ids.keyOf("prod/sonnet")).isEqualTo("prod");
    assertThat(Ids.keyOf("prod")).isEqualTo("prod");
  }
}
