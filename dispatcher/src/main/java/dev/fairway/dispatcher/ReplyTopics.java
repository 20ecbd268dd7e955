package dev.fairway.dispatcher;

/** Which reply topics exist, and how to come by one. Never waits. */
interface ReplyTopics {

  /** Whether there is something to send to, as far as is known. */
  boolean isKnown(Route route);

  /** It did not answer to its name: it is unknown until it has been looked at again. */
  void forget(Route route);

  /**
   * Has the topic made, or looked at if it is shared, even if it is known. The answer comes as
   * {@link Deliveries#topicReady} or {@link Deliveries#topicFailed}; asking twice before that is
   * harmless.
   */
  void ensure(Route route);
}
