package dev.fairway.dispatcher;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reply topics of the cluster, as far as is known, and their creation and deletion. Used by the
 * loop's thread; requests are answered through the inbox, so nothing here waits.
 *
 * <p>What is asked for between two calls of {@link #flush()} goes out as one request: creating 200
 * topics at once takes a fraction of creating them one by one. Each topic of a request succeeds or
 * fails for itself.
 */
final class KafkaReplyTopics implements ReplyTopics {

  private static final Logger log = LoggerFactory.getLogger(KafkaReplyTopics.class);

  private static final int TOPICS_PER_REQUEST_MAX = 500;

  /** More than one, so that a request which hangs does not hold up the next agents. */
  private static final int REQUESTS_MAX = 4;

  private static final int REQUEST_TIMEOUT_MS = 10_000;
  private static final long SEGMENT_BYTES = 16L << 20;
  private static final long SEGMENT_INDEX_BYTES = 256L << 10;
  private static final long SEGMENT_MS_MIN = 60_000;

  private final Admin admin;
  private final Inbox inbox;
  private final Answers answers;
  private final DispatcherMetrics metrics;
  private final short replicationFactor;
  private final Map<String, String> topicConfig;

  private Set<String> names = new HashSet<>();
  private final Set<Route> sharedKnown = new HashSet<>();
  private final Set<Route> wanted = new LinkedHashSet<>();
  private final Set<Route> underWay = new HashSet<>();
  private int requests;
  private boolean refreshing;

  KafkaReplyTopics(
      Admin admin,
      DispatcherConfig config,
      Inbox inbox,
      Answers answers,
      DispatcherMetrics metrics) {
    this.admin = admin;
    this.inbox = inbox;
    this.answers = answers;
    this.metrics = metrics;
    this.replicationFactor = config.replicationFactor();
    long retentionMs = config.replyRetentionMs();
    // Retention deletes whole segments, so a segment must end well before a reply's time is over.
    this.topicConfig =
        Map.of(
            TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE,
            TopicConfig.RETENTION_MS_CONFIG, Long.toString(retentionMs),
            TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime",
            TopicConfig.SEGMENT_MS_CONFIG, Long.toString(Math.max(SEGMENT_MS_MIN, retentionMs / 4)),
            TopicConfig.SEGMENT_BYTES_CONFIG, Long.toString(SEGMENT_BYTES),
            TopicConfig.SEGMENT_INDEX_BYTES_CONFIG, Long.toString(SEGMENT_INDEX_BYTES));
  }

  /** What exists, replacing what was known. */
  void exist(Collection<String> topics) {
    names = new HashSet<>(topics);
    sharedKnown.removeIf(route -> !names.contains(route.topic()));
  }

  /** Looks again at what exists; a topic that somebody deleted is noticed before it is needed. */
  void refresh() {
    if (refreshing) {
      return;
    }
    refreshing = true;
    KafkaFuture<Set<String>> found =
        admin.listTopics(new ListTopicsOptions().timeoutMs(REQUEST_TIMEOUT_MS)).names();
    whenAnswered(
        found,
        (names, error) -> {
          refreshing = false;
          if (error == null) {
            exist(names);
          } else {
            log.warn("Topics cannot be listed: {}", error.toString());
          }
        });
  }

  @Override
  public boolean isKnown(Route route) {
    return route.owned() ? names.contains(route.topic()) : sharedKnown.contains(route);
  }

  @Override
  public void forget(Route route) {
    if (route.owned()) {
      names.remove(route.topic());
    } else {
      sharedKnown.remove(route);
    }
  }

  @Override
  public void ensure(Route route) {
    if (!underWay.contains(route)) {
      wanted.add(route);
    }
  }

  /** Sends out what was asked for. */
  void flush() {
    while (!wanted.isEmpty() && requests < REQUESTS_MAX) {
      List<Route> owned = new ArrayList<>();
      List<Route> shared = new ArrayList<>();
      Iterator<Route> next = wanted.iterator();
      while (next.hasNext() && owned.size() + shared.size() < TOPICS_PER_REQUEST_MAX) {
        Route route = next.next();
        next.remove();
        underWay.add(route);
        (route.owned() ? owned : shared).add(route);
      }
      create(owned);
      describe(shared);
    }
  }

  /** Whether an answer is awaited. */
  boolean isBusy() {
    return requests > 0;
  }

  /** Deletes a topic; the answer is whether it is gone. */
  void delete(String topic, Deleted deleted) {
    names.remove(topic);
    KafkaFuture<Void> result = admin.deleteTopics(List.of(topic)).topicNameValues().get(topic);
    whenAnswered(
        result,
        (nothing, error) -> {
          if (error == null) {
            metrics.topicDeleted();
          } else if (!(error instanceof UnknownTopicOrPartitionException)) {
            log.warn("Topic {} cannot be deleted: {}", topic, error.toString());
          }
          deleted.answer(error == null || error instanceof UnknownTopicOrPartitionException);
        });
  }

  private void create(List<Route> routes) {
    if (routes.isEmpty()) {
      return;
    }
    Map<String, Route> routesByTopic = new HashMap<>();
    routes.forEach(route -> routesByTopic.put(route.topic(), route));
    List<NewTopic> topics =
        routesByTopic.keySet().stream()
            .map(name -> new NewTopic(name, Optional.of(1), factor()).configs(topicConfig))
            .toList();
    Map<String, KafkaFuture<Void>> results =
        admin
            .createTopics(topics, new CreateTopicsOptions().timeoutMs(REQUEST_TIMEOUT_MS))
            .values();
    results.forEach(
        (name, result) ->
            whenAnswered(result, (nothing, error) -> created(routesByTopic.get(name), error)));
    countWhileUnderWay(results.values());
  }

  private void created(Route route, Throwable error) {
    underWay.remove(route);
    if (error == null || error instanceof TopicExistsException) {
      if (error == null) {
        metrics.topicCreated();
      }
      names.add(route.topic());
      answers.ready(route);
    } else {
      log.debug("Topic {} cannot be created: {}", route.topic(), error.toString());
      answers.failed(route, TopicError.of(error));
    }
  }

  private void describe(List<Route> routes) {
    if (routes.isEmpty()) {
      return;
    }
    Map<String, KafkaFuture<TopicDescription>> results =
        admin
            .describeTopics(
                routes.stream().map(Route::topic).distinct().toList(),
                new DescribeTopicsOptions().timeoutMs(REQUEST_TIMEOUT_MS))
            .topicNameValues();
    for (Route route : routes) {
      whenAnswered(results.get(route.topic()), (found, error) -> described(route, found, error));
    }
    countWhileUnderWay(results.values());
  }

  private void described(Route route, TopicDescription found, Throwable error) {
    underWay.remove(route);
    if (error != null) {
      answers.failed(route, TopicError.of(error));
    } else if (route.partition() >= found.partitions().size()) {
      answers.failed(route, TopicError.MISSING);
    } else {
      sharedKnown.add(route);
      answers.ready(route);
    }
  }

  private void countWhileUnderWay(Collection<? extends KafkaFuture<?>> results) {
    requests++;
    whenAnswered(
        KafkaFuture.allOf(results.toArray(KafkaFuture[]::new)), (nothing, error) -> requests--);
  }

  /** Has an answer handled by the loop's thread; its error is null if there was none. */
  private <T> void whenAnswered(KafkaFuture<T> future, BiConsumer<T, Throwable> handler) {
    KafkaFuture<T> unused =
        future.whenComplete(
            (value, error) -> inbox.post(() -> handler.accept(value, causeOf(error))));
  }

  private Optional<Short> factor() {
    return replicationFactor == -1 ? Optional.empty() : Optional.of(replicationFactor);
  }

  private static Throwable causeOf(Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? error.getCause()
        : error;
  }

  /** Hears what became of a topic that was asked for. Called by the loop's thread. */
  interface Answers {

    /** It exists. */
    void ready(Route route);

    /** It cannot be had just now. */
    void failed(Route route, TopicError error);
  }

  /** Hears whether a topic is gone. Called by the loop's thread. */
  interface Deleted {

    /** Called once. */
    void answer(boolean gone);
  }
}
