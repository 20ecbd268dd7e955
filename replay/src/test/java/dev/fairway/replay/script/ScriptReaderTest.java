package dev.fairway.replay.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.SignalClass;
import dev.fairway.schemas.TaskState;
import java.io.StringReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScriptReaderTest {

  private static ScriptLine only(String text) throws Exception {
    ScriptReader reader = reader(text);
    ScriptLine line = reader.next();
    assertThat(reader.next()).isNull();
    return line;
  }

  private static ScriptReader reader(String text) {
    return new ScriptReader(new StringReader(text));
  }

  @Test
  void shouldReadARequestWithTheRecordsDefaults() throws Exception {
    // when
    ScriptLine line = only("{\"at_ms\":5,\"request\":{\"id\":\"r1\",\"quota\":\"q\"}}");

    // then
    LeaseRequest request = ((ScriptLine.RequestLease) line).request();
    assertThat(line.atMs()).isEqualTo(5);
    assertThat(request.getRequestId()).isEqualTo("r1");
    assertThat(request.getQuota()).isEqualTo("q");
    assertThat(request.getRole())
        .isEqualTo(LeaseRequest.getClassSchema().getField("role").defaultVal());
    assertThat(request.getClass$())
        .isEqualTo(LeaseRequest.getClassSchema().getField("class").defaultVal());
    assertThat(request.getEstimate().getInputTokens()).isNull();
    assertThat(request.getEstimate().getCachedTokens()).isZero();
    assertThat(request.getEstimate().getMaxOutputTokens()).isNull();
    assertThat(request.getUnblocks()).isNull();
    assertThat(request.getTaskId()).isNull();
    assertThat(request.getDeadlineMs()).isNull();
  }

  @Test
  void shouldReadEveryFieldOfARequest() throws Exception {
    // when
    ScriptLine line =
        only(
            "{\"at_ms\":0,\"request\":{\"id\":\"r1\",\"quota\":\"q\",\"agent\":\"a1\",\"tenant\":\"t1\","
                + "\"task\":\"T\",\"role\":\"planner\",\"class\":\"interactive\",\"retry_of\":\"r0\","
                + "\"repeat_failures\":2,\"unblocks\":3,\"input_tokens\":80,\"cached_tokens\":7,"
                + "\"cache_expires_at_ms\":900,\"max_output_tokens\":0,\"deadline_ms\":1000}}");

    // then
    LeaseRequest request = ((ScriptLine.RequestLease) line).request();
    assertThat(request.getAgentId()).isEqualTo("a1");
    assertThat(request.getTenant()).isEqualTo("t1");
    assertThat(request.getTaskId()).isEqualTo("T");
    assertThat(request.getRole()).isEqualTo("planner");
    assertThat(request.getClass$()).isEqualTo("interactive");
    assertThat(request.getRetryOf()).isEqualTo("r0");
    assertThat(request.getRepeatFailures()).isEqualTo(2);
    assertThat(request.getUnblocks()).isEqualTo(3);
    assertThat(request.getEstimate().getInputTokens()).isEqualTo(80);
    assertThat(request.getEstimate().getCachedTokens()).isEqualTo(7);
    assertThat(request.getEstimate().getCacheExpiresAtMs()).isEqualTo(900);
    assertThat(request.getEstimate().getMaxOutputTokens()).isZero();
    assertThat(request.getDeadlineMs()).isEqualTo(1000);
  }

  @Test
  void shouldReadASettlementWithItsSignal() throws Exception {
    // when
    ScriptLine.Settle settle =
        (ScriptLine.Settle)
            only(
                "{\"at_ms\":900,\"settle\":{\"request\":\"r1\",\"quota\":\"q\",\"outcome\":\"RATE_LIMITED\","
                    + "\"requeue\":true,\"input_tokens\":75,\"cache_read_tokens\":1,"
                    + "\"cache_write_tokens\":2,\"output_tokens\":10,\"signal\":{\"status\":429,"
                    + "\"class\":\"RATE_LIMITED\",\"binding\":\"requests\",\"retry_after_ms\":1000,"
                    + "\"age_ms\":3,\"ms_since_send\":900,\"limits\":{\"input_tokens\":"
                    + "{\"limit\":30000,\"remaining\":29000,\"reset_ms\":2000}}}}}");

    // then
    assertThat(settle.outcome()).isEqualTo(Outcome.RATE_LIMITED);
    assertThat(settle.requeue()).isTrue();
    assertThat(settle.leaseId()).isNull();
    assertThat(settle.usage().getInputTokens()).isEqualTo(75);
    assertThat(settle.usage().getCacheReadTokens()).isEqualTo(1);
    assertThat(settle.usage().getCacheWriteTokens()).isEqualTo(2);
    assertThat(settle.usage().getOutputTokens()).isEqualTo(10);
    assertThat(settle.usage().getExact()).isTrue();
    assertThat(settle.signal().getStatus()).isEqualTo(429);
    assertThat(settle.signal().getClass$()).isEqualTo(SignalClass.RATE_LIMITED);
    assertThat(settle.signal().getBinding()).isEqualTo("requests");
    assertThat(settle.signal().getRetryAfterMs()).isEqualTo(1000);
    assertThat(settle.signal().getAgeMs()).isEqualTo(3);
    assertThat(settle.signal().getMsSinceSend()).isEqualTo(900);
    assertThat(settle.signal().getLimits().getRequests()).isNull();
    assertThat(settle.signal().getLimits().getInputTokens().getLimit()).isEqualTo(30000);
    assertThat(settle.signal().getLimits().getInputTokens().getRemaining()).isEqualTo(29000);
    assertThat(settle.signal().getLimits().getInputTokens().getResetMs()).isEqualTo(2000);
  }

  @Test
  void shouldLeaveUsageUnknownWhereNoNumberIsGiven() throws Exception {
    // when
    ScriptLine.Settle settle =
        (ScriptLine.Settle)
            only(
                "{\"at_ms\":0,\"settle\":{\"lease\":\"L\",\"quota\":\"q\","
                    + "\"outcome\":\"FAILED_AFTER_SEND\"}}");

    // then
    assertThat(settle.usage()).isNull();
    assertThat(settle.signal()).isNull();
    assertThat(settle.leaseId()).isEqualTo("L");
  }

  @Test
  void shouldReadATaskAndAShow() throws Exception {
    // given
    ScriptReader reader =
        reader(
            "{\"at_ms\":950,\"task\":{\"quota\":\"q\",\"id\":\"T2\",\"role\":\"worker\","
                + "\"state\":\"BLOCKED\",\"blocked_on\":[\"T\"]}}\n"
                + "\n  \r\n"
                + "{\"at_ms\":1000,\"show\":\"q\"}");

    // when
    ScriptLine.UpdateTask task = (ScriptLine.UpdateTask) reader.next();
    ScriptLine.Show show = (ScriptLine.Show) reader.next();

    // then
    assertThat(task.update().getState()).isEqualTo(TaskState.BLOCKED);
    assertThat(task.update().getBlockedOn()).containsExactly("T");
    assertThat(show.quotaId()).isEqualTo("q");
    assertThat(show.lineNumber()).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"at_ms\":0,\"show\":\"q\",\"shw\":1}|shw: unknown field",
        "{\"at_ms\":0,\"request\":{\"id\":\"r\",\"quota\":\"q\",\"tokens\":1}}|request.tokens: unknown field",
        "{\"at_ms\":0,\"quota\":{\"id\":\"q\",\"limits\":{\"rpm\":1}}}|quota.limits.rpm: unknown field",
        "{\"at_ms\":0,\"settle\":{\"quota\":\"q\",\"outcome\":\"SUCCEEDED\"}}|settle.request: expected a request id or a lease id",
        "{\"at_ms\":0,\"settle\":{\"request\":\"r\",\"quota\":\"q\"}}|settle.outcome: expected how the call ended",
        "{\"at_ms\":0,\"settle\":{\"request\":\"r\",\"quota\":\"q\",\"outcome\":\"OK\"}}|settle.outcome: expected one of",
        "{\"at_ms\":0,\"task\":{\"id\":\"T\",\"quota\":\"q\"}}|task.state: expected where the task stands",
        "{\"at_ms\":0,\"request\":{\"quota\":\"q\"}}|request.id: expected a text, but the field is missing",
        "{\"at_ms\":0,\"request\":7}|request: expected an object",
        "{\"at_ms\":0}|expected at_ms and exactly one of",
        "{\"at_ms\":0,\"show\":\"q\",\"task\":{\"id\":\"T\",\"quota\":\"q\",\"state\":\"DONE\"}}|exactly one of",
        "{\"show\":\"q\"}|at_ms: expected a time",
        "{\"at_ms\":-1,\"show\":\"q\"}|at_ms: expected milliseconds from 0",
        "{\"at_ms\":1.5,\"show\":\"q\"}|at_ms: expected a whole number",
        "{\"at_ms\":0,\"at_ms\":1,\"show\":\"q\"}|expected one JSON object",
        "{\"at_ms\":0,\"show\":\"q\"} {}|expected one JSON object",
        "[1]|expected an object {...}, but found [1]",
        "nonsense|expected one JSON object, but found nonsense",
      })
  void shouldNameTheLineAndTheFieldOfAnError(String line, String message) {
    // given
    ScriptReader reader = reader("\n" + line + "\n");

    // then
    assertThatThrownBy(reader::next)
        .isInstanceOf(ScriptException.class)
        .hasMessageStartingWith("line 2: ")
        .hasMessageContaining(message);
  }

  @Test
  void shouldRefuseALineWithoutEndAndGoOnAfterIt() throws Exception {
    // given
    String endless = "x".repeat(ScriptReader.LINE_LENGTH_MAX + 1);
    ScriptReader reader = reader(endless + "\n{\"at_ms\":0,\"show\":\"q\"}");

    // then
    assertThatThrownBy(reader::next).hasMessageContaining("but found more");
    assertThat(reader.next()).isEqualTo(new ScriptLine.Show(2, 0, "q"));
  }
}
