package dev.fairway.admission.engine.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.QuotaDefinition.Preset;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * The real engine with the preset SEED against a transcription of the published rules that shares
 * nothing with it, on random scripts. Answers, their times, charges and levels are the same to the
 * millisecond and to the token; a failure prints its seed and shrinks.
 */
class SeedOraclePropertyTest {
  /** Weights that are powers of two: fixed-point tags are exact. */
  private static final Map<String, Long> POWERS = Map.of("lead", 4L, "second", 2L, "other", 1L);

  /** The weights of the seed. Lengths are rounded down to a thousandth of a token. */
  private static final Map<String, Long> SEED_ROLES =
      Map.of("planner", 3L, "reviewer", 2L, "worker", 1L);

  /**
   * A tag is a sum of at most as many lengths as a script has lines, each less than a thousandth of
   * a token too small; calls whose tags are closer than that may be served in either order.
   */
  private static final Rational ROUNDING = Rational.of(60 * 2, 1000);

  @Provide
  Arbitrary<List<SeedScripts.Line>> scripts() {
    return SeedScripts.scripts();
  }

  @Property(tries = 300)
  void shouldDecideAsThePublishedRules(
      @ForAll SeedQuota quota, @ForAll("scripts") List<SeedScripts.Line> script) {
    SeedComparison comparison = new SeedComparison(quota, Preset.SEED, POWERS, Rational.ZERO);
    assertThat(comparison.run(script)).isEmpty();
  }

  @Property(tries = 300)
  void shouldDecideAsThePublishedRulesWithWeightsThatAreRounded(
      @ForAll SeedQuota quota, @ForAll("scripts") List<SeedScripts.Line> script) {
    SeedComparison comparison = new SeedComparison(quota, Preset.SEED, SEED_ROLES, ROUNDING);
    assertThat(comparison.run(script)).isEmpty();
  }

  @Example
  void shouldNotAgreeWithAnotherPolicy() {
    // given: the same knobs under FAIRWAY, which keeps a reserve in buckets as shallow as these
    SeedComparison comparison =
        new SeedComparison(SeedQuota.THREE_LIMITS, Preset.FAIRWAY, POWERS, Rational.ZERO);

    // when
    String difference = comparison.run(SeedComparison.refusals());

    // then
    assertThat(difference).contains("expected [granted", "found [queued");
  }
}
