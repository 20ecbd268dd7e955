/**
 * The Java client that an agent embeds. It asks the coordinator for a lease before each model call
 * and reports afterwards what the call really used.
 *
 * <pre>{@code
 * try (AdmissionClient client = AdmissionClient.start(config)) {
 *   LeaseCall call = LeaseCall.of("anthropic.prod/sonnet").inputTokens(1800).maxOutputTokens(500).build();
 *   try (Lease lease = client.acquire(call).join()) {
 *     lease.markSent();
 *     Answer answer = provider.call(...);
 *     lease.succeeded(UsageReport.of(answer.input(), answer.output()), ProviderSignal.ok());
 *   }
 * }
 * }</pre>
 *
 * <p>All answers of one agent arrive on one Kafka topic partition, which exactly one poll thread
 * reads from a resolved position on, without a consumer group: a group would rebalance, share
 * records between two processes of one agent, and start before its position is known.
 */
package dev.fairway.agent;
