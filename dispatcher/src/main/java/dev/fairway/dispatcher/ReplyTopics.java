package dev.fairway.dispatcher;

/** Which reply topics exist, and how to come by one. Never waits. */
interface ReplyTopics {

  /** Whether the topic exists, as far as is known. */
  boolean isKnown(String topic);

  /** The topic did not answer to its name: it is unknown until it has been looked at again. */
  void forget(String topic);

  /**
   * Has the topic made, or looked at if it is shared. The answer comes as {@link
   * Deliveries#topicReady} or {@link Deliveries#topicFailed}; asking twice before that is harmless.
   */
  void ensure(Route route);
}
