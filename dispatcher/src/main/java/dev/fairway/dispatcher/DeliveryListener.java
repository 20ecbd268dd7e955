package dev.fairway.dispatcher;

/** Hears what became of replies, to count and to log it. Called by the loop's thread. */
interface DeliveryListener {

  /** A reply was acknowledged by its topic. */
  void delivered(Reply reply, long nowMs);

  /** A decision will not be delivered. */
  void dropped(String agentId, DropReason reason);

  /** The topic of an agent refused a reply, or could not be had. */
  void topicError(String agentId, TopicError error);
}
