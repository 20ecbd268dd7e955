package dev.fairway.cli.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.avro.Schema;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SchemaStoreTest {

  @TempDir Path folder;

  private static String schema(int number) {
    return "{\"type\":\"fixed\",\"name\":\"F%d\",\"size\":4}".formatted(number);
  }

  private static void assertFull(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(RegistryError.class)
        .hasMessageContaining("full")
        .extracting(e -> ((RegistryError) e).code())
        .isEqualTo(42205);
  }

  @Test
  void shouldBeFullAtItsLimits() throws IOException {
    try (SchemaStore store = new SchemaStore(folder, new SchemaStore.Limits(2, 3, 2, 1_000))) {
      // given
      store.setCompatibility(Compatibility.NONE);
      store.register("a", schema(1));
      store.register("b", schema(2));

      // then: subjects
      assertFull(() -> store.register("c", schema(1)));
      store.setCompatibility("a", Compatibility.NONE);
      store.setCompatibility("b", Compatibility.NONE);
      store.setCompatibility("b", Compatibility.FULL);
      assertFull(() -> store.setCompatibility("c", Compatibility.NONE));

      // and: versions, then schemas
      store.register("a", schema(3));
      assertFull(() -> store.register("a", schema(2)));
      store.setCompatibility("b", Compatibility.NONE);
      assertFull(() -> store.register("b", schema(4)));

      // and: what is there still answers
      assertThat(store.register("a", schema(1))).isEqualTo(1);
    }
  }

  @Test
  void shouldBoundTheTextOfAllSchemas() throws IOException {
    int length = schema(1).length();
    try (SchemaStore store =
        new SchemaStore(folder, new SchemaStore.Limits(10, 10, 10, 2L * length))) {
      store.register("a", schema(1));
      store.register("b", schema(2));
      assertFull(() -> store.register("c", schema(3)));
      assertThat(store.register("c", schema(1))).isEqualTo(1);
    }
  }

  @Test
  void shouldGiveEachSchemaOneIdUnderConcurrency() throws Exception {
    // given
    int schemas = 20;
    int threads = 4;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (SchemaStore store = new SchemaStore(folder, SchemaStore.Limits.DEFAULT)) {
      // when: all threads register all schemas, each under subjects of its own
      List<Future<List<Integer>>> results = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        results.add(
            pool.submit(
                () -> {
                  List<Integer> ids = new ArrayList<>();
                  for (int i = 0; i < schemas; i++) {
                    ids.add(store.register("s" + thread + "-" + i, schema(i)));
                  }
                  return ids;
                }));
      }

      // then
      Set<List<Integer>> distinct = new HashSet<>();
      for (Future<List<Integer>> result : results) {
        distinct.add(result.get());
      }
      assertThat(distinct).hasSize(1);
      assertThat(new HashSet<>(distinct.iterator().next())).hasSize(schemas);
      assertThat(store.subjects()).hasSize(schemas * threads);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void shouldJudgeEachLevelInItsDirection() {
    // given
    String a = "{\"name\":\"a\",\"type\":\"int\"}";
    String b = "{\"name\":\"b\",\"type\":\"int\"}";
    String bOptional = "{\"name\":\"b\",\"type\":\"int\",\"default\":0}";
    Schema one = record(a);
    Schema more = record(a + "," + b);
    Schema moreOptional = record(a + "," + bOptional);

    // then: a field without default added, removed; one with default added
    assertThat(Compatibility.BACKWARD.violation(more, List.of(one))).isPresent();
    assertThat(Compatibility.BACKWARD.violation(one, List.of(more))).isEmpty();
    assertThat(Compatibility.FORWARD.violation(more, List.of(one))).isEmpty();
    assertThat(Compatibility.FORWARD.violation(one, List.of(more))).isPresent();
    assertThat(Compatibility.FULL.violation(more, List.of(one))).isPresent();
    assertThat(Compatibility.FULL.violation(one, List.of(more))).isPresent();
    assertThat(Compatibility.FULL.violation(moreOptional, List.of(one))).isEmpty();
    assertThat(Compatibility.NONE.violation(more, List.of(one))).isEmpty();

    // and: only the transitive ones look behind the latest version
    assertThat(Compatibility.BACKWARD.violation(more, List.of(one, more))).isEmpty();
    assertThat(Compatibility.BACKWARD_TRANSITIVE.violation(more, List.of(one, more))).isPresent();
    assertThat(Compatibility.FORWARD.violation(one, List.of(more, one))).isEmpty();
    assertThat(Compatibility.FORWARD_TRANSITIVE.violation(one, List.of(more, one))).isPresent();
    assertThat(Compatibility.FULL_TRANSITIVE.violation(one, List.of(more, one))).isPresent();
  }

  private static Schema record(String fields) {
    return new Schema.Parser()
        .parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":[%s]}".formatted(fields));
  }
}
