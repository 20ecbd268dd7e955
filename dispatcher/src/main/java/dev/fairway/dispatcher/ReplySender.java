package dev.fairway.dispatcher;

/** Sends replies without ever waiting. */
interface ReplySender {

  /** What became of an attempt to send, as far as it shows at once. */
  enum Attempt {
    /** Under way; the outcome comes later. */
    ACCEPTED,
    /** The producer does not know the topic or partition; it is asking in the background. */
    NO_METADATA,
    /** The producer's buffer is full: nothing can be sent to anybody just now. */
    BUFFER_FULL,
    /** Larger than the producer takes. */
    TOO_LARGE
  }

  /** Sends a reply to where its agent reads; an accepted one is answered for exactly once. */
  Attempt send(Route route, Reply reply);
}
