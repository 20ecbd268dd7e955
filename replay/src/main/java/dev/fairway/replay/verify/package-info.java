/**
 * Verification of a journal by itself.
 *
 * <p>Two checks, of which the second shares no code with the engine: {@link
 * dev.fairway.replay.verify.JournalVerifier} hands every command of the journal to a fresh engine
 * at its own time and compares what it decides with what was decided; {@link
 * dev.fairway.replay.verify.Conservation} folds the events by the published rules and compares
 * balances, leases and waiting requests.
 */
package dev.fairway.replay.verify;
