package dev.fairway.replay.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.fairway.replay.world.WorldOptions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictTest {
  private static final double NO_WAIT = Double.NaN;

  private static StudyResult result(Map<Policy, List<RunResult>> runs) {
    Map<Policy, List<RunResult>> all = new EnumMap<>(runs);
    int seeds = runs.values().iterator().next().size();
    all.putIfAbsent(
        Policy.CLAIRVOYANT, java.util.Collections.nCopies(seeds, run(1000, 1010, 10, 100)));
    return new StudyResult(
        WorldOptions.defaults(),
        JsonNodeFactory.instance.objectNode(),
        LongStream.rangeClosed(1, seeds).boxed().toList(),
        new ArrayList<>(new EnumMap<>(runs).keySet()),
        all);
  }

  private static RunResult run(long useful, long tokens, long prs, double waitS) {
    return new RunResult(
        10, 0, 2000, useful, useful, tokens, 9, 0, prs, waitS * 1000, 1, 1, 1, 0, 0, List.of());
  }

  private static StudyResult against(Policy measure, RunResult best, RunResult backoff) {
    return result(Map.of(Policy.FULL_JITTER_30, List.of(backoff), measure, List.of(best)));
  }

  @Test
  void shouldNotAskForAWaitWhereTheMeasureMergedNothing() {
    // given: the engine's agents have no patience, and merge nothing
    StudyResult result =
        against(Policy.FAIRWAY, run(960, 8700, 0, NO_WAIT), run(3060, 9000, 7, 1946));

    // then
    assertThat(Verdict.backoffAloneWouldDo(result)).contains(Policy.FULL_JITTER_30);
    assertThat(Verdict.line(result))
        .isEqualTo(
            "yes: full-jitter-30 useful/c 3.06, tokens/useful 2.94, PRs 7.0, wait 1946 s/PR;"
                + " fairway useful/c 0.96, tokens/useful 9.06, PRs 0.0, wait -");
  }

  @Test
  void shouldAskForNoTokensWhereTheMeasureDidNothing() {
    // given
    StudyResult result = against(Policy.FAIRWAY, run(0, 0, 0, NO_WAIT), run(100, 900, 0, NO_WAIT));

    // then
    assertThat(Verdict.line(result)).startsWith("yes: ");
  }

  @ParameterizedTest
  @CsvSource({
    "970, 1000, 97, 160, yes",
    "969, 1000, 97, 160, no (useful/c)",
    "970, 1000, 96, 160, no (PRs)",
    "970, 1000, 97, 161, no (wait)",
    "970, 1050, 97, 160, no (tokens/useful)",
    "0, 1000, 0, NaN, 'no (useful/c, PRs, wait, tokens/useful)'"
  })
  void shouldNameWhatFallsShort(long useful, long tokens, long prs, double waitS, String expected) {
    // given
    StudyResult result =
        against(Policy.FAIRWAY, run(1000, 1002, 100, 100), run(useful, tokens, prs, waitS));

    // then
    assertThat(Verdict.line(result)).startsWith(expected + ": full-jitter-30 ");
    assertThat(Verdict.backoffAloneWouldDo(result).isPresent()).isEqualTo(expected.equals("yes"));
  }

  @Test
  void shouldMeasureAgainstTheEngineAsItIsBeforeTheOneWithKnobs() {
    // given
    RunResult good = run(1000, 1000, 100, 100);
    RunResult bad = run(500, 500, 50, 100);

    // then
    assertThat(
            Verdict.line(
                result(
                    Map.of(
                        Policy.FULL_JITTER_30, List.of(bad),
                        Policy.FAIRWAY, List.of(good),
                        Policy.FAIRWAY_KNOBS, List.of(bad)))))
        .startsWith("no (useful/c, PRs): ")
        .contains("; fairway useful/c");
    assertThat(Verdict.line(against(Policy.FAIRWAY_KNOBS, bad, bad)))
        .startsWith("yes: ")
        .contains("; fairway+knobs useful/c");
    assertThat(Verdict.line(against(Policy.SEED, good, good))).contains("; clairvoyant useful/c");
  }

  @Test
  void shouldSayInWordsThatTheClairvoyantHasNoneOfSomething() {
    // given
    StudyResult result =
        result(
            Map.of(
                Policy.FULL_JITTER_30, List.of(run(900, 900, 7, 10)),
                Policy.CLAIRVOYANT, List.of(run(1000, 1000, 0, NO_WAIT))));

    // then
    assertThat(StudyTable.lines(result))
        .contains("full-jitter-30 beats the clairvoyant, PRs/c: some to none on seed 1");
  }
}
