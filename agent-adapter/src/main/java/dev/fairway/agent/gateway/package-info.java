/**
 * The gateway: a sidecar that speaks the providers' own HTTP APIs, so that every model call of a
 * fleet goes through admission with no change to the agents.
 *
 * <p>A call is planned once its body is there ({@code CallPlanner}: route, who asks, estimate),
 * then lives as a {@code ProxiedCall} until its client has the answer. Its answer is read while it
 * passes ({@code AnswerTap}), never collected first.
 */
package dev.fairway.agent.gateway;
