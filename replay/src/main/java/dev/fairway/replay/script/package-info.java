/**
 * Scripts: the engine in virtual time on lines that people write.
 *
 * <p>{@link dev.fairway.replay.script.ScriptReader} turns JSON lines into {@link
 * dev.fairway.replay.script.ScriptLine}s, {@link dev.fairway.replay.script.ScriptRunner} runs them
 * through an engine of its own, and {@link dev.fairway.replay.script.EventLines} writes what
 * happened as JSON lines again. All three hold one line at a time.
 */
package dev.fairway.replay.script;
