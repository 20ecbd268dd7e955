package dev.fairway.replay.invariants;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.RandomGenerator;

/** A check that finds nothing in a broken engine proves nothing about a sound one. */
class MutantTest {
  private static final int RUNS = 400;
  private static final long SEED = 20_261_129L;

  @Property(generation = GenerationMode.EXHAUSTIVE)
  void shouldBeFoundByItsInvariant(@ForAll Mutant mutant) {
    // given
    RandomGenerator<List<Action>> generator = mutant.actions().generator(1000);
    Random random = new Random(SEED);
    List<String> found = new ArrayList<>();

    for (int run = 0; run < RUNS && found.isEmpty(); run++) {
      List<Step> steps = mutant.run(run, generator.next(random).value());

      // when
      assertThat(mutant.check(steps)).as("the sound engine").isEmpty();
      found.addAll(mutant.check(mutant.tamper(steps)));
    }

    // then
    assertThat(found).as("what %s finds in %d runs", mutant, RUNS).isNotEmpty();
  }
}
