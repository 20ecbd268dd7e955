package dev.fairway.admission.topology;

import static dev.fairway.admission.topology.Samples.KEY;
import static dev.fairway.admission.topology.Samples.QUOTA;
import static dev.fairway.admission.topology.Samples.quota;
import static dev.fairway.admission.topology.Samples.request;
import static dev.fairway.admission.topology.TopologyContext.header;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import dev.fairway.schemas.serde.SchemaRegistry;
import dev.fairway.schemas.serde.SchemaRegistryException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;

/** A registry that is down for a moment costs no good record, and stops no other. */
class ParkedRecordsTest {
  private static final int NEW_ID = 4_711;

  private final FlakyRegistry registry = new FlakyRegistry();

  @Test
  void shouldDecideWhenTheRegistryIsBack() {
    try (TopologyContext context = new TopologyContext(1, registry)) {
      // given
      context.quota(quota().build(), QUOTA);
      registry.up = false;
      context.send(
          context.topics.requests(), KEY, underNewId(context, "early"), new RecordHeaders());
      context.send(context.topics.requests(), KEY, request("other").build());
      List<Event.LeaseGranted> meanwhile = context.events(Event.LeaseGranted.class);
      int stored = context.storeSize();

      // when
      registry.up = true;
      context.sleep(16_000);

      // then
      assertThat(meanwhile).extracting(Event.LeaseGranted::requestId).containsExactly("other");
      assertThat(context.events(Event.LeaseGranted.class))
          .extracting(Event.LeaseGranted::requestId)
          .containsExactly("early");
      assertThat(context.deadLetters()).isEmpty();
      assertThat(stored).isPositive();
    }
  }

  @Test
  void shouldGiveUpAfterFiveMinutes() {
    try (TopologyContext context = new TopologyContext(1, registry)) {
      // given
      context.quota(quota().build(), QUOTA);
      registry.up = false;
      context.send(
          context.topics.requests(), KEY, underNewId(context, "early"), new RecordHeaders());

      // when
      context.sleep(280_000);
      List<TestRecord<byte[], byte[]>> before = context.deadLetters();
      context.sleep(40_000);

      // then
      assertThat(before).isEmpty();
      List<TestRecord<byte[], byte[]>> letters = context.deadLetters();
      assertThat(letters).hasSize(1);
      assertThat(header(letters.get(0), "fairway.reason")).isEqualTo("REGISTRY_UNAVAILABLE");
      assertThat(header(letters.get(0), "fairway.offset")).isEqualTo("0");
    }
  }

  @Test
  void shouldSetAsideWhatFindsNoRoom() {
    try (TopologyContext context = new TopologyContext(1, registry)) {
      // given
      context.quota(quota().build(), QUOTA);
      registry.up = false;

      // when
      for (int i = 0; i <= ParkedRecords.RECORDS_MAX; i++) {
        context.send(
            context.topics.requests(), KEY, underNewId(context, "r" + i), new RecordHeaders());
      }

      // then
      assertThat(context.deadLetters()).hasSize(1);
    }
  }

  private static byte[] underNewId(TopologyContext context, String id) {
    byte[] value = context.bytes(context.topics.requests(), request(id).build());
    ByteBuffer.wrap(value).putInt(1, NEW_ID);
    return value;
  }

  /** Knows one more id than was registered, and can be out of reach. */
  private static final class FlakyRegistry implements SchemaRegistry {
    private final InMemorySchemaRegistry known = new InMemorySchemaRegistry();
    private boolean up = true;

    @Override
    public int register(String subject, Schema schema) {
      return known.register(subject, schema);
    }

    @Override
    public int idOf(String subject, Schema schema) {
      return known.idOf(subject, schema);
    }

    @Override
    public Schema byId(int id) {
      if (id != NEW_ID) {
        return known.byId(id);
      }
      if (!up) {
        throw new SchemaRegistryException(
            SchemaRegistryException.Kind.UNAVAILABLE, "no answer", null);
      }
      return dev.fairway.schemas.LeaseRequest.getClassSchema();
    }
  }
}
