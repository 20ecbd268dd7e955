package dev.fairway.dispatcher;

import java.util.Locale;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * What a reply topic answered instead of taking a reply. Each is counted under its {@link
 * #label()}.
 */
enum TopicError {
  /** There is no such topic or partition. */
  MISSING,
  /** The dispatcher may not create it or write to it. */
  FORBIDDEN,
  /** The cluster does not allow this name, or it collides with another topic's. */
  INVALID_NAME,
  /** The cluster's policy or its number of brokers does not allow the topic as configured. */
  NOT_ALLOWED,
  /** The record is larger than the topic or the producer takes; another attempt is useless. */
  TOO_LARGE,
  /** No answer in time. */
  TIMEOUT,
  /** Anything else. */
  OTHER;

  /** The value of the metric's label. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static TopicError of(Throwable error) {
    if (error instanceof UnknownTopicOrPartitionException
        || error instanceof UnknownTopicIdException) {
      return MISSING;
    }
    if (error instanceof AuthorizationException) {
      return FORBIDDEN;
    }
    if (error instanceof InvalidTopicException) {
      return INVALID_NAME;
    }
    if (error instanceof PolicyViolationException
        || error instanceof InvalidReplicationFactorException) {
      return NOT_ALLOWED;
    }
    if (error instanceof RecordTooLargeException) {
      return TOO_LARGE;
    }
    return error instanceof TimeoutException ? TIMEOUT : OTHER;
  }
}
