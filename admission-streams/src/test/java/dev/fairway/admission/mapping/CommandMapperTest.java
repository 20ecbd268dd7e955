package dev.fairway.admission.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseClass;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.Signal;
import dev.fairway.schemas.SignalLimits;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommandMapperTest {
  private static final String SALT = "00112233445566778899aabbccddeeff";

  @Test
  void shouldTranslateAQuotaWithItsDefaults() {
    // given
    Quota quota =
        Quota.newBuilder()
            .setId("prod/sonnet")
            .setPolicy(PolicyPreset.FAIRWAY)
            .setWindow(ProviderWindow.TOKEN_BUCKET)
            .setState(QuotaState.ACTIVE)
            .setClasses(Map.of())
            .setTenants(Map.of())
            .setLimits(Limits.newBuilder().setInputTokensPerMinute(450_000L).build())
            .build();

    // when
    Command.DefineQuota command = CommandMapper.toCommand(quota, SALT);

    // then
    QuotaDefinition definition = command.definition();
    assertThat(command.salt()).isEqualTo(SALT);
    assertThat(definition.id()).isEqualTo("prod/sonnet");
    assertThat(definition.provider()).isEqualTo("generic");
    assertThat(definition.preset()).isEqualTo(QuotaDefinition.Preset.FAIRWAY);
    assertThat(definition.state()).isEqualTo(QuotaDefinition.State.ACTIVE);
    assertThat(definition.limits()).isEqualTo(Amounts.of(Dimension.INPUT_TOKENS, 450_000));
    assertThat(definition.margin()).isNull();
    assertThat(definition.roles()).isEmpty();
  }

  @Test
  void shouldCarryAbsurdNumbersToTheEngineUnchanged() {
    // given
    LeaseRequest request =
        LeaseRequest.newBuilder()
            .setRequestId("")
            .setAgentId("a/b")
            .setQuota("k")
            .setEstimate(
                Estimate.newBuilder().setInputTokens(-5L).setMaxOutputTokens(1L << 62).build())
            .setDeadlineMs(-1L)
            .build();

    // when
    Command.RequestLease command = CommandMapper.toCommand(request, -1);

    // then
    assertThat(command.request().estimate().inputTokens()).isEqualTo(-5);
    assertThat(command.request().estimate().maxOutputTokens()).isEqualTo(1L << 62);
    assertThat(command.request().requestId()).isEmpty();
    assertThat(command.request().agentId()).isEqualTo("a/b");
    assertThat(command.request().deadlineMs()).isEqualTo(-1);
    assertThat(command.appendedAtMs()).isEqualTo(-1);
  }

  @Test
  void shouldTakeAnUnknownBindingForUnknown() {
    // given
    dev.fairway.schemas.Settlement settlement =
        dev.fairway.schemas.Settlement.newBuilder()
            .setLeaseId("l")
            .setAgentId("a")
            .setQuota("k")
            .setOutcome(Outcome.RATE_LIMITED)
            .setSignal(
                Signal.newBuilder()
                    .setBinding("images")
                    .setLimits(SignalLimits.newBuilder().build())
                    .build())
            .build();

    // when
    Settlement read = CommandMapper.toCommand(settlement, 10).settlement();

    // then
    assertThat(read.signal().binding()).isNull();
    assertThat(read.signal().kind()).isNull();
    assertThat(read.signal().limits()).isEmpty();
  }

  @Test
  void shouldReadCorrelationWithoutMovingItsBuffer() {
    // given
    ByteBuffer correlation = ByteBuffer.wrap(new byte[] {9, 1, 2, 3}, 1, 3);
    LeaseRequest request =
        LeaseRequest.newBuilder()
            .setRequestId("r")
            .setAgentId("a")
            .setQuota("k")
            .setEstimate(Estimate.newBuilder().build())
            .setCorrelation(correlation)
            .build();

    // when
    Command.RequestLease once = CommandMapper.toCommand(request, 1);
    Command.RequestLease twice = CommandMapper.toCommand(request, 1);

    // then
    assertThat(once).isEqualTo(twice);
    assertThat(once.request().correlation().toArray()).containsExactly(1, 2, 3);
  }

  @Test
  void shouldWriteMapsInOrderOfTheirNames() {
    // given
    Map<String, LeaseClass> classes = new LinkedHashMap<>();
    for (String name : List.of("z", "m", "a", "q")) {
      classes.put(name, new LeaseClass(0.1));
    }
    Quota quota =
        Quota.newBuilder()
            .setId("k")
            .setPolicy(PolicyPreset.SEED)
            .setWindow(ProviderWindow.FIXED)
            .setState(QuotaState.PAUSED)
            .setLimits(Limits.newBuilder().build())
            .setClasses(classes)
            .setTenants(Map.of())
            .build();

    // when
    Quota written = QuotaMapper.toAvro(QuotaMapper.toEngine(quota));

    // then
    assertThat(written.getClasses().keySet()).containsExactly("a", "m", "q", "z");
  }
}
