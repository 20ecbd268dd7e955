package dev.fairway.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import org.junit.jupiter.api.Test;

class QuotaChangeTest {

  private static Quota quota(String rest) {
    return QuotaYaml.parse(
            "quotas: [{id: q, limits: {requests_per_minute: 10}" + rest + "}]", "test")
        .quotas()
        .get(0);
  }

  @Test
  void shouldCallTheFirstDefinitionNew() {
    QuotaChange change = QuotaChange.of(null, quota(""), false);

    assertThat(change.kind()).isEqualTo("create");
  }

  @Test
  void shouldFindNothingToDoInTheSameDefinition() {
    QuotaChange change =
        QuotaChange.of(quota(", lease_ttl: 2m"), quota(", lease_ttl_ms: 120000"), false);

    assertThat(change.kind()).isEqualTo("none");
  }

  @Test
  void shouldNameEachFieldThatDiffersWithBothValues() {
    QuotaChange change =
        QuotaChange.of(quota(", lease_ttl: 2m"), quota(", max_queue_wait: 30s"), false);

    assertThat(change.kind()).isEqualTo("update");
    assertThat(change.fields())
        .extracting(field -> field.field() + ": " + field.from() + " -> " + field.to())
        .containsExactly("lease_ttl: \"2m\" -> null", "max_queue_wait: null -> \"30s\"");
  }

  @Test
  void shouldNotResumeAPausedQuotaUnlessTheFileSaysSo() {
    Quota paused = QuotaEdits.withClearCount(QuotaEdits.withState(quota(""), QuotaState.PAUSED), 3);

    QuotaChange silent = QuotaChange.of(paused, quota(""), false);
    QuotaChange told = QuotaChange.of(paused, quota(", state: ACTIVE"), true);

    assertThat(silent.kind()).isEqualTo("none");
    assertThat(told.quota().getState()).isEqualTo(QuotaState.ACTIVE);
    assertThat(told.quota().getClearCount()).isEqualTo(3);
  }
}
