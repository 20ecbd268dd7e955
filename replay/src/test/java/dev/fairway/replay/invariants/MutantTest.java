package dev.fairway.replay.invariants;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.QuotaDefinition.Preset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitrary;
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
    Arbitrary<List<Action>> actionLists = mutant.needsAStorm() ? Actions.storms() : Actions.lists();
    RandomGenerator<List<Action>> generator = actionLists.generator(1000);
    Random random = new Random(SEED);
    List<String> found = new ArrayList<>();

    for (int run = 0; run < RUNS && found.isEmpty(); run++) {
      Preset preset =
          mutant.needsAStorm() ? Preset.FAIRWAY : Preset.values()[run % Preset.values().length];
      List<Action> actions = generator.next(random).value();
      List<Step> steps =
          mutant == Mutant.GRANTS_WITHOUT_WAITING
              ? EngineRun.exact(preset, actions)
              : EngineRun.of(preset, actions);

      // when
      assertThat(mutant.check(steps)).as("the sound engine").isEmpty();
      found.addAll(mutant.check(mutant.tamper(steps)));
    }

    // then
    assertThat(found).as("what %s finds in %d runs", mutant, RUNS).isNotEmpty();
  }
}
