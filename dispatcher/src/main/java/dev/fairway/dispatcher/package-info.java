/**
 * Delivers the decisions of the journal to each agent's reply topic, at least once, in the
 * journal's order for each agent, and so that no agent delays another.
 *
 * <p>One thread, {@link dev.fairway.dispatcher.DispatchLoop}, owns all state. It reads the journal
 * (committed records only), turns each event that decides something into a {@code Decision}, asks
 * the {@link dev.fairway.dispatcher.AgentDirectory} where the agent's decisions go, and hands the
 * reply to {@link dev.fairway.dispatcher.Deliveries}. What can be sent is sent at once. What
 * cannot, because its topic does not exist yet or refuses it, is parked in its agent's {@link
 * dev.fairway.dispatcher.Lane} until the topic answers or the reply's deadline passes. A grant is
 * delivered even after its lease ended: its agent then gives it back and asks again. Kafka's
 * clients answer on threads of their own; their answers are queued and handled on the one thread.
 *
 * <p>{@link dev.fairway.dispatcher.OffsetTracker} holds the commit of a journal partition back to
 * the oldest record that still has a reply under way or parked. So a crash repeats replies (with
 * the same decision ids), and loses none.
 *
 * <p>Two waits inside Kafka's producer would let one agent hold up all: the wait for a topic's
 * metadata and the wait for buffer memory. Both are turned off ({@code max.block.ms=0}); a send
 * that would wait fails at once, has the producer fetch the metadata in the background, and is
 * tried again.
 */
package dev.fairway.dispatcher;
