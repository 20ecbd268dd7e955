package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.RejectReason;
import org.junit.jupiter.api.Test;

class RefusedExceptionTest {
  @Test
  void shouldTellAnUnknownQuotaFromAnOverloadedProvider() {
    // when
    Trouble unknown =
        new RefusedException("r", RejectReason.UNKNOWN_QUOTA, "There is no 'k/q'.", null).trouble();
    Trouble full =
        new RefusedException("r", RejectReason.QUEUE_FULL, "The queue is full.", null).trouble();

    // then: the type of a 503 alone says that the provider is overloaded
    assertThat(unknown.message())
        .isEqualTo(
            "A mistake of Fairway's configuration, not the provider's load: There is no 'k/q'.");
    assertThat(full.message()).isEqualTo("The queue is full.");
  }
}
