package dev.fairway.admission.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class OutputRingTest {

  @Property(tries = 200)
  void shouldGiveThePercentileOfTheLast200AndSurviveItsRows(
      @ForAll @Size(min = 1, max = 700) List<@IntRange(min = 0, max = 9_000) Integer> outputs) {
    // given
    OutputRing ring = new OutputRing();
    Map<Integer, List<Long>> chunks = new HashMap<>();
    List<Long> all = new ArrayList<>();

    for (int output : outputs) {
      // when
      ring.add(output);
      all.add((long) output);
      if (ring.filledChunk() >= 0) {
        chunks.put(ring.filledChunk(), ring.chunk(ring.filledChunk()));
      }
    }
    OutputRing restored = new OutputRing();
    chunks.forEach(restored::loadChunk);
    restored.load(ring.total(), ring.recent());

    // then
    List<Long> last =
        all.subList(Math.max(0, all.size() - OutputRing.SIZE), all.size()).stream()
            .sorted()
            .toList();
    for (int hundredths : new int[] {1, 50, 75, 100}) {
      long expected = last.get((int) Math.ceil(last.size() * hundredths / 100.0) - 1);
      assertThat(ring.percentile(hundredths)).isEqualTo(expected);
      assertThat(restored.percentile(hundredths)).isEqualTo(expected);
    }
    // The rows that were written along the way are those of the state, before and after.
    for (int chunk = 0; chunk < OutputRing.SIZE / OutputRing.CHUNK; chunk++) {
      assertThat(ring.hasChunk(chunk)).isEqualTo(chunks.containsKey(chunk));
      if (ring.hasChunk(chunk)) {
        assertThat(ring.chunk(chunk)).isEqualTo(chunks.get(chunk));
        assertThat(restored.chunk(chunk)).isEqualTo(chunks.get(chunk));
      }
    }
    assertThat(restored.recent()).isEqualTo(ring.recent()).hasSizeLessThan(OutputRing.CHUNK);
  }
}
