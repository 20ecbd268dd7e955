package dev.fairway.replay.invariants;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Random;
import net.jqwik.api.RandomGenerator;

/**
 * Runs random scripts through whichever engine its class loader has, until the property that has to
 * find a fault finds something.
 */
final class FaultRun {
  /**
   * What was found.
   *
   * @param run number of the script that showed it, from 1
   * @param finding what the property said first
   */
  record Found(int run, String finding) {}

  private FaultRun() {}

  /** What the property finds in the engine with that fault; null for nothing. */
  static Found inTheBroken(EngineFault fault, long seed, int tries)
      throws ReflectiveOperationException {
    Method find =
        fault
            .engine()
            .loadClass(FaultRun.class.getName())
            .getDeclaredMethod("find", String.class, long.class, int.class, int.class);
    find.setAccessible(true);
    Object[] found = (Object[]) find.invoke(null, fault.name(), seed, 1, tries);
    return found == null ? null : new Found((int) found[0], (String) found[1]);
  }

  /** What it finds in the sound engine on one of the scripts; null for nothing. */
  static Found inTheSound(EngineFault fault, long seed, int run) {
    Object[] found = find(fault.name(), seed, run, run);
    return found == null ? null : new Found((int) found[0], (String) found[1]);
  }

  /** Called by reflection as well: nothing but classes of the JDK crosses between loaders. */
  static Object[] find(String name, long seed, int from, int to) {
    EngineFault fault = EngineFault.valueOf(name);
    RandomGenerator<List<Action>> generator = fault.actions().generator(1000);
    Random random = new Random(seed);
    for (int run = 1; run <= to; run++) {
      List<Action> actions = generator.next(random).value();
      if (run >= from) {
        List<String> wrong = fault.check(run, actions);
        if (!wrong.isEmpty()) {
          return new Object[] {run, wrong.get(0)};
        }
      }
    }
    return null;
  }
}
