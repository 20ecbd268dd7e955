package dev.fairway.dispatcher;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Marks as committed offsets of a group that nobody joins. */
final class GroupReadMarks implements ReadMarks {

  private final Admin admin;
  private final String groupId;
  private final Inbox inbox;

  GroupReadMarks(Admin admin, String groupId, Inbox inbox) {
    this.admin = admin;
    this.groupId = groupId;
    this.inbox = inbox;
  }

  @Override
  public void read(Consumer<Answer> answer) {
    admin
        .listConsumerGroupOffsets(groupId)
        .partitionsToOffsetAndMetadata()
        .whenComplete(
            (offsets, error) -> {
              Map<TopicPartition, Long> marks = new HashMap<>();
              if (offsets != null) {
                offsets.forEach(
                    (partition, offset) -> {
                      if (offset != null) {
                        marks.put(partition, offset.offset());
                      }
                    });
              }
              inbox.post(() -> answer.accept(new Answer(marks, error)));
            });
  }

  @Override
  public void write(Map<TopicPartition, Long> marks, Consumer<Answer> answer) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    marks.forEach((partition, offset) -> offsets.put(partition, new OffsetAndMetadata(offset)));
    admin
        .alterConsumerGroupOffsets(groupId, offsets)
        .all()
        .whenComplete(
            (done, error) -> inbox.post(() -> answer.accept(new Answer(Map.of(), error))));
  }
}
