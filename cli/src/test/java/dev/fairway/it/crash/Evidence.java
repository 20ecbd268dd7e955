package dev.fairway.it.crash;

import dev.fairway.cli.demo.emulator.LedgerEntry;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Decision;
import java.util.List;
import org.apache.avro.specific.SpecificRecord;

/**
 * The three records of one run, and what lies between them: what agents did and received, what the
 * provider saw, what the journal says.
 *
 * @param journal all of the journal, records of one key in their order
 * @param inputs every record of the topics of requests and settlements
 * @param deadLetters records that the coordinator could not handle
 * @param replies where every record of the agents' reply topics lies
 * @param agents what each agent recorded
 * @param ledger every call that the provider saw
 * @param lives every process of {@code up}, in their order
 */
record Evidence(
    List<AdmissionEvent> journal,
    List<Input> inputs,
    long deadLetters,
    List<Coordinates> replies,
    List<Agent> agents,
    List<LedgerEntry> ledger,
    List<Life> lives) {

  /** A request or settlement as the broker has it. */
  record Input(Coordinates at, SpecificRecord value) {}

  /** A reply as an agent's client read it; {@code receivedAtMs} in epoch milliseconds. */
  record Delivery(Coordinates at, Decision decision, long receivedAtMs) {}

  /**
   * One agent's record.
   *
   * @param sent every request and settlement it handed to its producer, each attempt
   * @param acknowledged where the broker said it has them
   * @param received every reply it read
   * @param uses every lease it was handed
   */
  record Agent(
      String agentId,
      List<SpecificRecord> sent,
      List<Coordinates> acknowledged,
      List<Delivery> received,
      List<LeaseUse> uses) {}

  Evidence withJournal(List<AdmissionEvent> altered) {
    return new Evidence(altered, inputs, deadLetters, replies, agents, ledger, lives);
  }

  Evidence withLedger(List<LedgerEntry> altered) {
    return new Evidence(journal, inputs, deadLetters, replies, agents, altered, lives);
  }

  Evidence withAgents(List<Agent> altered) {
    return new Evidence(journal, inputs, deadLetters, replies, altered, ledger, lives);
  }
}
