package dev.fairway.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.schemas.Quota;
import java.util.List;
import org.junit.jupiter.api.Test;

class UntilRestartTest {
  private static final String LIMITS = "limits: {requests_per_minute: 1}";

  @Test
  void shouldNameTheSectionsThatAreNotApplied() {
    // given
    FairwayConfig file =
        parsed("quotas: [{id: k/q, " + LIMITS + "}]\ngateway: {mode: OBSERVE}\nkafka: {a: b}");

    // when
    List<String> lines = UntilRestart.of(file, List.of());

    // then
    assertThat(lines).hasSize(1);
    assertThat(lines.get(0)).startsWith("the file's gateway, kafka is not applied");
  }

  @Test
  void shouldNameQuotasWhoseModelsAGatewayDoesNotKnowYet() {
    // given
    FairwayConfig file =
        parsed(
            "quotas: [{id: k/a, models: [x, y], %s}, {id: k/b, models: [z], %s}, {id: k/c, %s}]"
                .formatted(LIMITS, LIMITS, LIMITS));
    Quota before = parsed("quotas: [{id: k/a, models: [x], %s}]".formatted(LIMITS)).quotas().get(0);
    List<Quota> quotas = file.quotas();

    // when
    List<String> lines =
        UntilRestart.of(
            file,
            List.of(
                QuotaChange.of(before, quotas.get(0), false),
                QuotaChange.of(quotas.get(1), quotas.get(1), false),
                QuotaChange.of(null, quotas.get(2), false)));

    // then
    assertThat(lines).hasSize(1);
    assertThat(lines.get(0)).contains("not by those of k/a:").contains("start it again");
  }

  @Test
  void shouldSayNothingWhereAllIsInForce() {
    FairwayConfig file = parsed("quotas: [{id: k/q, " + LIMITS + "}]");

    assertThat(UntilRestart.of(file, List.of(QuotaChange.of(null, file.quotas().get(0), false))))
        .isEmpty();
  }

  private static FairwayConfig parsed(String text) {
    return QuotaYaml.parse(text, "f.yaml");
  }
}
