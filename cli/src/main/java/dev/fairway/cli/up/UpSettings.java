package dev.fairway.cli.up;

import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.schemas.Topics;
import java.nio.file.Path;

/**
 * What {@code fairway up} was asked for.
 *
 * @param data folder of everything that survives a restart
 * @param config what the configuration file says, or null without one
 * @param emulated whether, without a configuration and where no quota but the demo one is defined,
 *     there is a gateway to an emulated provider
 * @param bootstrap Kafka to use, or null for the embedded one
 * @param registry schema registry to use, or null for the one in this process
 * @param topics names of the topics
 * @param kafkaPort port of the embedded Kafka, or 0 for the one of last time
 * @param registryPort port of the schema registry in this process, or 0 for the one of last time
 * @param httpPort port of the coordinator's status, or 0 for the one of last time
 */
public record UpSettings(
    Path data,
    FairwayConfig config,
    boolean emulated,
    String bootstrap,
    String registry,
    Topics topics,
    int kafkaPort,
    int registryPort,
    int httpPort) {}
