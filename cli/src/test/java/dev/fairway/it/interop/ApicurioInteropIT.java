package dev.fairway.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.it.registry.ApicurioRegistry;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseSettled;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same pipeline over Apicurio instead of the registry that {@code fairway up} brings. */
class ApicurioInteropIT {

  private static InteropPipeline pipeline;

  @BeforeAll
  static void start() {
    pipeline = InteropPipeline.start(ApicurioRegistry.url());
  }

  @AfterAll
  static void stop() {
    if (pipeline != null) {
      pipeline.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldMakeACallUnderALease(AgentProgram program) {
    // given
    String key = "apicurio-" + program.ordinal();
    pipeline.define(key);

    // when
    String leaseId =
        program.oneCall(pipeline, key + "-caller", key, "r-1").get("lease_id").asText();

    // then
    assertThat(pipeline.events(key, LeaseGranted.class, 1))
        .singleElement()
        .satisfies(e -> assertThat(e.getLeaseId()).isEqualTo(leaseId));
    assertThat(pipeline.events(key, LeaseSettled.class, 1))
        .singleElement()
        .satisfies(e -> assertThat(e.getActual().getInputTokens()).isEqualTo(280));
  }
}
