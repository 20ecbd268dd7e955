package dev.fairway.cli.ops;

import dev.fairway.cli.CliException;
import dev.fairway.schemas.DeadLetterFormat;
import dev.fairway.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;

/**
 * The dead letters of a pipeline. One that was sent again is marked by a record of its own in the
 * same partition, written in one transaction with the record that was sent: so it is sent once,
 * however often it is asked for.
 */
public final class DeadLetterStore {

  /** Dead letters that are looked at; more than a person wants to read. */
  public static final int LETTERS_MAX = 100_000;

  private final Pipeline pipeline;

  /** Works over this pipeline, which stays its owner's. */
  public DeadLetterStore(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  /**
   * The dead letters that are kept, in order within each partition, at most {@link #LETTERS_MAX}.
   */
  public List<DeadLetter> all() {
    List<ConsumerRecord<byte[], byte[]>> letters = new ArrayList<>();
    Set<String> redriven = new HashSet<>();
    pipeline
        .reader()
        .read(
            pipeline.topics().deadLetters(),
            new TopicReader.From.Beginning(),
            record -> {
              String marks = DeadLetter.header(record, DeadLetter.REDRIVEN);
              if (marks != null) {
                redriven.add(marks);
              } else {
                letters.add(record);
              }
              return letters.size() < LETTERS_MAX;
            });
    return letters.stream()
        .map(
            letter ->
                DeadLetter.of(
                    letter, redriven.contains(letter.partition() + ":" + letter.offset())))
        .toList();
  }

  /**
   * The dead letters of these sources, of those that are kept; the latest one of each.
   *
   * @param sources as {@link DeadLetter#source()}
   */
  Map<String, DeadLetter> bySource(Set<String> sources) {
    Map<String, DeadLetter> found = new HashMap<>();
    pipeline
        .reader()
        .read(
            pipeline.topics().deadLetters(),
            new TopicReader.From.Beginning(),
            record -> {
              DeadLetter letter = DeadLetter.of(record, false);
              if (sources.contains(letter.source())) {
                found.put(letter.source(), letter);
              }
              return true;
            });
    return found;
  }

  /**
   * Checks that each could be sent as it was, before the first one is.
   *
   * @throws CliException if one could not
   */
  public void checkSources(List<DeadLetter> letters) {
    letters.stream().filter(letter -> !letter.redriven()).forEach(this::checkSource);
  }

  /**
   * Sends a dead letter to its source topic again, with its own key, value and headers, and marks
   * it.
   *
   * @throws CliException if it cannot be sent as it was
   */
  public void redrive(DeadLetter letter) {
    checkSource(letter);
    List<Header> headers = new ArrayList<>();
    for (Header header : letter.record().headers()) {
      if (!header.key().startsWith(DeadLetterFormat.OWN_PREFIX)) {
        headers.add(header);
      }
    }
    ProducerRecord<byte[], byte[]> again =
        new ProducerRecord<>(
            letter.sourceTopic(),
            null,
            null,
            letter.record().key(),
            letter.record().value(),
            headers);
    ProducerRecord<byte[], byte[]> mark =
        new ProducerRecord<>(
            pipeline.topics().deadLetters(),
            letter.record().partition(),
            letter.record().key(),
            null);
    mark.headers().add(DeadLetter.REDRIVEN, letter.place().getBytes(StandardCharsets.UTF_8));
    pipeline.sendTogether(List.of(again, mark));
  }

  private void checkSource(DeadLetter letter) {
    if (letter.truncatedFromBytes() != null) {
      throw new CliException(
          "Expected dead letter "
              + letter.place()
              + " whole, but it was cut from "
              + letter.truncatedFromBytes()
              + " bytes when it was put aside. Have its sender send the original again, and name the others"
              + " by their places; nothing was sent.");
    }
    Topics topics = pipeline.topics();
    Set<String> sources =
        Set.of(
            topics.requests(),
            topics.settlements(),
            topics.tasks(),
            topics.quotas(),
            topics.agents());
    if (letter.sourceTopic() == null || !sources.contains(letter.sourceTopic())) {
      throw new CliException(
          "Expected the source of dead letter "
              + letter.place()
              + " to be one of "
              + new TreeSet<>(sources)
              + ", but found "
              + (letter.sourceTopic() == null ? "none" : letter.sourceTopic())
              + ". Check --prefix, or name the others by their places; nothing was sent.");
    }
  }
}
