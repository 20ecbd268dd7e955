package dev.fairway.dispatcher;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/** Up to where a topic was looked through, kept where every dispatcher and the next run see it. */
interface ReadMarks {

  /** Asks for the marks; the answer comes by the loop's thread. */
  void read(Consumer<Answer> answer);

  /** Sets marks; the answer, without marks, comes by the loop's thread. */
  void write(Map<TopicPartition, Long> marks, Consumer<Answer> answer);

  /**
   * What came of it.
   *
   * @param marks offset of the next record to look at, by partition; none: from the beginning
   * @param error null if it worked
   */
  record Answer(Map<TopicPartition, Long> marks, Throwable error) {}
}
