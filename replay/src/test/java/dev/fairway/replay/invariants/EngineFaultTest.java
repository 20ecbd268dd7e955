package dev.fairway.replay.invariants;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;

/**
 * The random runs reach the faults that an engine may have, and the properties see them: each fault
 * is put into the real engine, and the property beside it has to find it.
 */
class EngineFaultTest {
  private static final long SEED = 20_261_130L;

  @Property(generation = GenerationMode.EXHAUSTIVE)
  void shouldBeFoundByItsProperty(@ForAll EngineFault fault) throws ReflectiveOperationException {
    // when
    FaultRun.Found found = FaultRun.inTheBroken(fault, SEED, Tries.count());

    // then
    assertThat(found).as("%s in %d tries", fault, Tries.count()).isNotNull();
    assertThat(FaultRun.inTheSound(fault, SEED, found.run())).as("the sound engine").isNull();
  }
}
