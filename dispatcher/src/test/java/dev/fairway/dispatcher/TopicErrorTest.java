package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TopicErrorTest {

  @ParameterizedTest
  @MethodSource("errors")
  void shouldTellKindsOfErrorsApart(Throwable error, TopicError kind) {
    // when / then
    assertThat(TopicError.of(error)).isEqualTo(kind);
  }

  static Stream<Arguments> errors() {
    return Stream.of(
        Arguments.of(new UnknownTopicOrPartitionException("t"), TopicError.MISSING),
        Arguments.of(new UnknownTopicIdException("t"), TopicError.MISSING),
        Arguments.of(new TopicAuthorizationException("t"), TopicError.FORBIDDEN),
        Arguments.of(new ClusterAuthorizationException("t"), TopicError.FORBIDDEN),
        Arguments.of(new InvalidTopicException("t"), TopicError.INVALID_NAME),
        Arguments.of(new PolicyViolationException("t"), TopicError.NOT_ALLOWED),
        Arguments.of(new InvalidReplicationFactorException("t"), TopicError.NOT_ALLOWED),
        Arguments.of(new RecordTooLargeException("t"), TopicError.TOO_LARGE),
        Arguments.of(new TimeoutException("t"), TopicError.TIMEOUT),
        Arguments.of(new NotLeaderOrFollowerException("t"), TopicError.OTHER),
        Arguments.of(new IllegalStateException("t"), TopicError.OTHER));
  }
}
