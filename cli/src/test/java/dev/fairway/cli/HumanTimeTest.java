package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.cli.ops.StatusClient;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HumanTimeTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0.0 s",
    "9999, 9.9 s",
    "10000, 10 s",
    "119999, 119 s",
    "120000, 2 min",
    "200000, 3 min 20 s",
    "3599999, 59 min 59 s",
    "3600000, 1 h",
    "5400000, 1 h 30 min",
    "86400000, 1 d",
    "90000000, 1 d 1 h",
    "-4200, -4.2 s"
  })
  void shouldSayALengthWithItsLargestUnits(long ms, String text) {
    assertThat(HumanTime.length(ms)).isEqualTo(text);
  }

  @Test
  void shouldSayATimeAsSeenFromNow() {
    assertThat(HumanTime.relative(1_083_000, 1_000_000)).isEqualTo("in 83 s");
    assertThat(HumanTime.relative(1_000_000, 1_000_000)).isEqualTo("0.0 s ago");
    assertThat(HumanTime.relative(0, Long.MAX_VALUE)).endsWith(" ago");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "5000 | {'reason':'LIMIT','quota':'q','dimension':'input_tokens'} | 5.0 s | input_tokens",
        "0 | {'reason':'LIMIT','quota':'q','dimension':'concurrent_requests'} | unknown | a free slot",
        "9 | {'reason':'LIMIT','quota':'o','dimension':'tokens'} | 0.0 s | tokens of quota 'o'",
        "9 | {'reason':'HOLD','quota':'q','dimension':null} | 0.0 s | the end of the hold of the quota",
        "0 | null | unknown | -"
      })
  void shouldSayWhatAWaitIsFor(long etaMs, String waitsFor, String eta, String expected)
      throws Exception {
    // given
    StatusClient.Entry waiter =
        new StatusClient.Entry(
            new ObjectMapper()
                .readTree(
                    "{'quota':'q','told_eta_ms':%d,'waits_for':%s}"
                        .formatted(etaMs, waitsFor)
                        .replace('\'', '"')),
            1_000L);
    List<ListingCommand.Column> columns =
        QueueCommand.COLUMNS.stream()
            .filter(column -> List.of("told_eta_ms", "waits_for").contains(column.field()))
            .toList();

    // when
    List<String> lines = ListingCommand.table(columns, List.of(waiter)).lines();

    // then
    assertThat(lines.get(1).strip().split(" {2,}")).containsExactly(eta, expected);
  }

  @Test
  void shouldShowALeaseByTheCoordinatorsClock() throws Exception {
    // given
    StatusClient.Entry lease =
        new StatusClient.Entry(
            new ObjectMapper()
                .readTree(
                    "{\"quota\":\"q\",\"lease\":\"L\",\"request\":\"r\",\"agent\":\"a\",\"role\":null,"
                        + "\"attempt\":1,\"granted_at_ms\":1790000000000,"
                        + "\"expires_at_ms\":1790000120000,"
                        + "\"charged\":{\"requests\":1,\"tokens\":80}}"),
            1_790_000_037_000L);

    // when
    List<String> lines = ListingCommand.table(LeasesCommand.COLUMNS, List.of(lease)).lines();

    // then
    assertThat(lines.get(0).split(" {2,}"))
        .containsExactly(
            "QUOTA", "LEASE", "REQUEST", "AGENT", "ROLE", "ATTEMPT", "GRANTED", "EXPIRES",
            "CHARGED");
    assertThat(lines.get(1).split(" {2,}"))
        .containsExactly(
            "q", "L", "r", "a", "-", "1", "37 s ago", "in 83 s", "requests 1, tokens 80");
  }
}
