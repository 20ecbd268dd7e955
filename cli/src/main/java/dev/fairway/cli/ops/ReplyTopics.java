package dev.fairway.cli.ops;

import dev.fairway.cli.CliException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Topics for replies that Fairway does not create: those that several agents share. */
public final class ReplyTopics {
  private static final int ANSWER_S = 10;

  private final Pipeline pipeline;

  /** Looks at the topics of a pipeline's cluster. */
  public ReplyTopics(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  /**
   * Makes sure that replies can go there.
   *
   * @throws CliException if the topic or the partition is not there
   */
  public void require(String topic, int partition) {
    int partitions;
    try {
      TopicDescription found =
          pipeline
              .admin()
              .describeTopics(List.of(topic))
              .topicNameValues()
              .get(topic)
              .get(ANSWER_S, TimeUnit.SECONDS);
      partitions = found.partitions().size();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        throw new CliException(
            "Expected the topic "
                + topic
                + ", but there is none. Create it first; Fairway creates"
                + " only topics of one agent each.",
            e);
      }
      throw new CliException(
          "Expected to look at topic " + topic + ", but: " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new CliException(
          "Expected the brokers to tell of topic "
              + topic
              + ", but they did not within "
              + ANSWER_S
              + " s.",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted.", e);
    }
    if (partition >= partitions) {
      throw new CliException(
          "Expected a partition of "
              + topic
              + " from 0 to "
              + (partitions - 1)
              + ", but found "
              + partition
              + ".");
    }
  }
}
