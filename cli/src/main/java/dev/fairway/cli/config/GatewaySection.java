package dev.fairway.cli.config;

import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.agent.gateway.GatewayConfig;

/**
 * The section {@code gateway} of a {@code fairway.yaml}.
 *
 * @param id agent id under which the gateway asks for all agents behind it; gateways that share it
 *     are one trust boundary, in which an agent is the same agent whichever it calls
 * @param config how it listens, routes and waits
 * @param fallback how its calls go on while the coordinator does not answer
 */
public record GatewaySection(String id, GatewayConfig config, FallbackConfig fallback) {}
