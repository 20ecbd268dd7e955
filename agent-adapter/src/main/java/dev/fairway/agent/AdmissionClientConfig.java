package dev.fairway.agent;

import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.schemas.DurationText;
import dev.fairway.schemas.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

/**
 * How an {@link AdmissionClient} is set up. Immutable.
 *
 * @param bootstrapServers Kafka brokers, {@code host:port} separated by commas
 * @param registryUrl schema registry, such as {@code http://127.0.0.1:8081}
 * @param agentId id of this agent, {@code [A-Za-z0-9._:-]{1,100}}; of one that speaks for members,
 *     without a colon
 * @param topicPrefix prefix of all topics, as {@link Topics} takes it
 * @param replyTopic topic of the agent's decisions, null for the one of its own, {@link
 *     Topics#reply}. It must be the one of the agent's registration: the dispatcher sends where the
 *     registration says
 * @param replyPartition partition of the reply topic; 0 unless the agent shares a topic
 * @param callTimeout timeout of calls that name none
 * @param resendAfter how long a request may stay unanswered until it is sent again; doubles each
 *     time
 * @param resendAfterMax longest time between two sends of a request
 * @param renewFor how long the client itself keeps one lease alive by renewals, counted from its
 *     grant, so that a forgotten lease does not hold capacity for ever
 * @param fallback how calls go on while the coordinator does not answer
 * @param pendingCallsMax most calls that may wait; one more fails at once
 * @param openLeasesMax most calls and leases together; one more call fails at once
 * @param startTimeout how long {@link AdmissionClient#start} may take
 * @param closeTimeout how long {@link AdmissionClient#close} waits for the broker
 * @param completionExecutor runs what depends on the futures, and queue listeners. It must not run
 *     tasks in the thread that submits them: that may be the one that reads replies
 * @param handover file in which the client keeps how its request ids begin and how far it has read
 *     its decisions, or null for none. Should the process be killed, the next client with the same
 *     file and agent id withdraws what was in line and gives back the grants that nobody has read.
 *     One client at a time; not for calls that name their request id to ask again for the same
 * @param clientProperties Kafka client and serde properties on top, such as {@code
 *     security.protocol}; what the protocol needs cannot be overridden
 */
public record AdmissionClientConfig(
    String bootstrapServers,
    String registryUrl,
    String agentId,
    String topicPrefix,
    String replyTopic,
    int replyPartition,
    Duration callTimeout,
    Duration resendAfter,
    Duration resendAfterMax,
    Duration renewFor,
    FallbackConfig fallback,
    int pendingCallsMax,
    int openLeasesMax,
    Duration startTimeout,
    Duration closeTimeout,
    Executor completionExecutor,
    Path handover,
    Map<String, Object> clientProperties) {

  /** Checks the ranges. */
  public AdmissionClientConfig {
    Checks.bootstrapServers(bootstrapServers);
    Checks.registryUrl(registryUrl);
    Checks.id("an agent id", agentId);
    positive("callTimeout", callTimeout);
    positive("resendAfter", resendAfter);
    positive("renewFor", renewFor);
    positive("startTimeout", startTimeout);
    positive("closeTimeout", closeTimeout);
    if (fallback == null) {
      throw new IllegalArgumentException(
          "Expected a fallback, but found null. Leave it out for FallbackConfig.DEFAULT.");
    }
    Topics topics = new Topics(topicPrefix);
    if (resendAfterMax == null || resendAfterMax.compareTo(resendAfter) < 0) {
      throw new IllegalArgumentException(
          "Expected a resendAfterMax of at least resendAfter ("
              + DurationText.of(resendAfter)
              + "), but found "
              + DurationText.of(resendAfterMax)
              + ".");
    }
    if (replyPartition < 0) {
      throw new IllegalArgumentException(
          "Expected a replyPartition of 0 or more, but found " + replyPartition + ".");
    }
    if (pendingCallsMax < 1 || openLeasesMax < 1) {
      throw new IllegalArgumentException(
          "Expected pendingCallsMax and openLeasesMax of 1 or more, but found "
              + pendingCallsMax
              + " and "
              + openLeasesMax
              + ".");
    }
    if (completionExecutor == null) {
      throw new IllegalArgumentException(
          "Expected a completionExecutor, but found null. Leave it out for the common pool.");
    }
    replyTopic = replyTopic == null ? topics.reply(agentId) : replyTopic;
    clientProperties = Map.copyOf(clientProperties);
  }

  /** Names of the topics. */
  Topics topics() {
    return new Topics(topicPrefix);
  }

  /** Id of the agent that a member is, or of this client's own for null. */
  String agentId(String member) {
    return member == null ? agentId : Checks.id("an agent id", agentId + ":" + member);
  }

  /** Whether decisions for this agent are this client's business. */
  boolean speaksFor(String agent) {
    return agent.startsWith(agentId)
        && (agent.length() == agentId.length() || agent.charAt(agentId.length()) == ':');
  }

  /**
   * Starts a configuration with defaults.
   *
   * @param bootstrapServers Kafka brokers
   * @param registryUrl schema registry
   * @param agentId id of this agent
   */
  public static Builder of(String bootstrapServers, String registryUrl, String agentId) {
    return new Builder(bootstrapServers, registryUrl, agentId);
  }

  private static void positive(String name, Duration value) {
    if (value == null || value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(
          "Expected " + name + " above 0, but found " + DurationText.of(value) + ".");
    }
  }

  /** Collects a configuration. Not thread-safe. */
  public static final class Builder {
    private final String bootstrapServers;
    private final String registryUrl;
    private final String agentId;
    private String topicPrefix = "fairway.";
    private String replyTopic;
    private int replyPartition;
    private Duration callTimeout = Duration.ofMinutes(2);
    private Duration resendAfter = Duration.ofSeconds(2);
    private Duration resendAfterMax = Duration.ofSeconds(30);
    private Duration renewFor = Duration.ofHours(1);
    private FallbackConfig fallback = FallbackConfig.DEFAULT;
    private int pendingCallsMax = 10_000;
    private int openLeasesMax = 20_000;
    private Duration startTimeout = Duration.ofSeconds(30);
    private Duration closeTimeout = Duration.ofSeconds(10);
    private Executor completionExecutor = ForkJoinPool.commonPool();
    private Path handover;
    private Map<String, Object> clientProperties = Map.of();

    private Builder(String bootstrapServers, String registryUrl, String agentId) {
      this.bootstrapServers = bootstrapServers;
      this.registryUrl = registryUrl;
      this.agentId = agentId;
    }

    /** Prefix of all topics; {@code fairway.} if not called. */
    public Builder topicPrefix(String topicPrefix) {
      this.topicPrefix = topicPrefix;
      return this;
    }

    /** A shared reply topic, and this agent's partition of it, as registered. */
    public Builder sharedReplyTopic(String replyTopic, int replyPartition) {
      this.replyTopic = replyTopic;
      this.replyPartition = replyPartition;
      return this;
    }

    /** Timeout of calls that name none; 2 minutes if not called. */
    public Builder callTimeout(Duration callTimeout) {
      this.callTimeout = callTimeout;
      return this;
    }

    /** First and longest time until an unanswered request is sent again; 2 s and 30 s. */
    public Builder resend(Duration resendAfter, Duration resendAfterMax) {
      this.resendAfter = resendAfter;
      this.resendAfterMax = resendAfterMax;
      return this;
    }

    /** How long the client itself keeps one lease alive; 1 hour if not called. */
    public Builder renewFor(Duration renewFor) {
      this.renewFor = renewFor;
      return this;
    }

    /** How calls go on without the coordinator; by the safe share, after 5 s, if not called. */
    public Builder fallback(FallbackConfig fallback) {
      this.fallback = fallback;
      return this;
    }

    /** Bounds: most calls that wait (10,000), most calls and leases together (20,000). */
    public Builder bounds(int pendingCallsMax, int openLeasesMax) {
      this.pendingCallsMax = pendingCallsMax;
      this.openLeasesMax = openLeasesMax;
      return this;
    }

    /** How long the start may take; 30 s if not called. */
    public Builder startTimeout(Duration startTimeout) {
      this.startTimeout = startTimeout;
      return this;
    }

    /** How long a close waits for the broker; 10 s if not called. */
    public Builder closeTimeout(Duration closeTimeout) {
      this.closeTimeout = closeTimeout;
      return this;
    }

    /** Runs what depends on the futures; the common pool if not called. */
    public Builder completionExecutor(Executor completionExecutor) {
      this.completionExecutor = completionExecutor;
      return this;
    }

    /** File that one client leaves to the next, should it be killed; none if not called. */
    public Builder handover(Path handover) {
      this.handover = handover;
      return this;
    }

    /** Kafka client and serde properties on top. */
    public Builder clientProperties(Map<String, ?> clientProperties) {
      this.clientProperties = Map.copyOf(clientProperties);
      return this;
    }

    /**
     * The configuration.
     *
     * @throws IllegalArgumentException if a value is out of its range, or an address is no address
     */
    public AdmissionClientConfig build() {
      return new AdmissionClientConfig(
          bootstrapServers,
          registryUrl,
          agentId,
          topicPrefix,
          replyTopic,
          replyPartition,
          callTimeout,
          resendAfter,
          resendAfterMax,
          renewFor,
          fallback,
          pendingCallsMax,
          openLeasesMax,
          startTimeout,
          closeTimeout,
          completionExecutor,
          handover,
          clientProperties);
    }
  }
}
