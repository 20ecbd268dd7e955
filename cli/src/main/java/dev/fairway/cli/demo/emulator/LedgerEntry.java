package dev.fairway.cli.demo.emulator;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * One call as the provider saw it. A call that was admitted has two entries of the same {@code seq}
 * in a ledger file, the first with {@code finishedNs} null; the later one holds.
 *
 * @param seq number of the call in order of arrival, from 1
 * @param call the caller's id of it (header {@code x-demo-call}), or null
 * @param turn what it is for (header {@code x-demo-turn}), or null
 * @param agent who called (header {@code x-demo-agent}), or null
 * @param arrivedNs arrival, in nanoseconds since the epoch
 * @param finishedNs end of the answer, in nanoseconds since the epoch; null while it is open
 * @param status HTTP status; 200 while it is open
 * @param inputTokens input, charged if the status is 200
 * @param outputTokens output that was produced; null while it is open
 * @param refusedBy the limit that refused it, or null
 * @param retryAfterS what the refusal told, in seconds, or null
 */
@JsonPropertyOrder({
  "seq",
  "call",
  "turn",
  "agent",
  "arrived_ns",
  "finished_ns",
  "status",
  "input_tokens",
  "output_tokens",
  "refused_by",
  "retry_after_s"
})
public record LedgerEntry(
    @JsonProperty("seq") long seq,
    @JsonProperty("call") String call,
    @JsonProperty("turn") String turn,
    @JsonProperty("agent") String agent,
    @JsonProperty("arrived_ns") long arrivedNs,
    @JsonProperty("finished_ns") Long finishedNs,
    @JsonProperty("status") int status,
    @JsonProperty("input_tokens") long inputTokens,
    @JsonProperty("output_tokens") Long outputTokens,
    @JsonProperty("refused_by") String refusedBy,
    @JsonProperty("retry_after_s") Long retryAfterS) {

  /** This call, finished. */
  LedgerEntry finished(long atNs, long producedTokens) {
    return new LedgerEntry(
        seq,
        call,
        turn,
        agent,
        arrivedNs,
        atNs,
        status,
        inputTokens,
        producedTokens,
        refusedBy,
        retryAfterS);
  }
}
