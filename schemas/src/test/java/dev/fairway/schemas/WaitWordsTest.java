package dev.fairway.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WaitWordsTest {

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "LIMIT,k/q,input_tokens,input_tokens",
        "LIMIT,k/q,concurrent_requests,a free slot",
        "LIMIT,k/o,requests,requests of quota 'k/o'",
        "LIMIT,k/o,concurrent_requests,a free slot of quota 'k/o'",
        "TENANT_CEILING,k/q,tokens,its tenant's share of tokens",
        "TENANT_CEILING,k/q,concurrent_requests,its tenant's share of slots",
        "RESERVE,k/q,tokens,its class's reserve of tokens",
        "HOLD,k/q,,the end of the hold of the quota",
        "BREAKER,k/o,,the probe of the breaker of quota 'k/o'",
        "RAMP,k/q,,the ramp of the quota after a hold",
        "RESET,k/q,,the reset of the window of the quota",
        "PAUSE,k/o,,an operator to resume quota 'k/o'",
      })
  void shouldSayWhatIsWaitedFor(WaitReason reason, String quota, String limit, String expected) {
    assertThat(WaitWords.of(new WaitsFor(reason, quota, limit), "k/q")).isEqualTo(expected);
  }
}
