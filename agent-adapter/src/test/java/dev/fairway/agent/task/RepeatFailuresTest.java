package dev.fairway.agent.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RepeatFailuresTest {
  private static final String DIFF =
      """
      diff --git a/src/Parser.java b/src/Parser.java
      index 3f0c6a1..9b5d47a 100644
      --- a/src/Parser.java
      +++ b/src/Parser.java
      @@ -12,7 +12,9 @@ class Parser {
         String text() {
      -    return input.substring(0, end);
      +    if (end < 0) {
      +      throw new IllegalStateException("no end");
      +    }
      +    return input.substring(0, end).strip();
         }
      """;

  private static final String OTHER =
      """
      --- a/src/Lexer.java
      +++ b/src/Lexer.java
      @@ -1,3 +1,3 @@
      -  private final Deque<Token> tokens = new ArrayDeque<>();
      +  private final List<Token> tokens = new LinkedList<>();
      """;

  private final RepeatFailures failures = new RepeatFailures();

  @Test
  void shouldCountTheSameFailureAfterMuchTheSameChange() {
    // when / then: the same elsewhere in the file, with other hashes and indentation
    assertThat(failures.failed("task", Set.of("shouldParse"), DIFF)).isZero();
    String moved =
        DIFF.replace("@@ -12,7 +12,9 @@", "@@ -40,7 +44,9 @@")
            .replace("3f0c6a1..9b5d47a", "aaaaaaa..bbbbbbb")
            .replace("+    if", "+        if");
    assertThat(failures.failed("task", Set.of("shouldParse"), moved)).isEqualTo(1);
    assertThat(failures.failed("task", Set.of("shouldParse"), DIFF)).isEqualTo(2);
    assertThat(failures.count("task")).isEqualTo(2);
    assertThat(failures.count("other")).isZero();
  }

  @Test
  void shouldForgetTheStepThatIsUnusedLongestOfTooMany() {
    // given
    for (int i = 0; i <= RepeatFailures.STEPS_MAX; i++) {
      failures.failed("step-" + i, Set.of("t"), "+ a");
      failures.failed("step-" + i, Set.of("t"), "+ a");
    }

    // when / then
    assertThat(failures.count("step-1")).isEqualTo(1);
    assertThat(failures.count("step-0")).isZero();
  }

  @Test
  void shouldCompareAChangeWithTheLastOnesOnly() {
    // given: a change, and then as many others as are kept
    failures.failed("task", Set.of("t"), change(0));
    for (int i = 1; i <= RepeatFailures.ATTEMPTS_MAX; i++) {
      assertThat(failures.failed("task", Set.of("t"), change(i))).isZero();
    }

    // when / then
    assertThat(failures.failed("task", Set.of("t"), change(0))).isZero();
    assertThat(failures.failed("task", Set.of("t"), change(2))).isEqualTo(1);
  }

  /** Changes that have nothing in common. */
  private static String change(int which) {
    String word = "word" + (char) ('a' + which);
    StringBuilder change = new StringBuilder();
    for (char c = 'a'; c < 'k'; c++) {
      change.append("+ ").append(word).append(c).append(' ').append(word).append("()\n");
    }
    return change.toString();
  }

  @Test
  void shouldSeeACircleOfTwoChanges() {
    // when / then
    assertThat(failures.failed("task", Set.of("t"), DIFF)).isZero();
    assertThat(failures.failed("task", Set.of("t"), OTHER)).isZero();
    assertThat(failures.failed("task", Set.of("t"), DIFF)).isEqualTo(1);
    assertThat(failures.failed("task", Set.of("t"), OTHER)).isEqualTo(2);
  }

  /** What fails in turn after much the same change, and what is counted. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "t1 | t1 t2 | 0 1 2 3 4 5", // one that breaks another, and mends it
        "t1 | t2    | 0 0 1 2 3 4", // one that moves the fault
        "t1 |       | 0 0 1 2 3 4", // one that does not even build
        "t1 t2 | t1 | 0 0 1 2 3 4", // fewer once, which was progress
        "t1 t2 | t2 t3 | 0 1 2 3 4 5"
      })
  void shouldSeeACircleWhateverFailsBesides(String one, String other, String counts) {
    // given
    List<Integer> found = new ArrayList<>();

    // when
    for (int i = 0; i < 6; i++) {
      String failing = i % 2 == 0 ? one : other;
      Set<String> tests = failing == null ? Set.of() : Set.of(failing.split(" "));
      found.add(failures.failed("task", tests, DIFF));
    }

    // then
    assertThat(found).extracting(String::valueOf).containsExactly(counts.split(" "));
  }

  @Test
  void shouldBeginAnewWhereOtherTestsFailAlone() {
    // given
    failures.failed("task", Set.of("t1"), DIFF);
    failures.failed("task", Set.of("t1"), DIFF);

    // when / then: also where nothing is built for a while
    assertThat(failures.failed("task", Set.of("t2"), OTHER)).isZero();
    assertThat(failures.failed("task", Set.of(), "+ nothing like it")).isZero();
  }

  @Test
  void shouldBeginAnewWithProgress() {
    // given
    failures.failed("task", Set.of("t1", "t2"), DIFF);
    failures.failed("task", Set.of("t1", "t2"), DIFF);

    // when / then: fewer tests fail
    assertThat(failures.failed("task", Set.of("t2"), DIFF)).isZero();
    assertThat(failures.failed("task", Set.of("t2"), DIFF)).isEqualTo(1);
    failures.progressed("task");
    assertThat(failures.failed("task", Set.of("t2"), DIFF)).isZero();
  }

  @Test
  void shouldNotTakeAnotherChangeForARepetition() {
    // given
    failures.failed("task", Set.of("t"), DIFF);

    // when / then
    assertThat(failures.failed("task", Set.of("t"), OTHER)).isZero();
    assertThatThrownBy(() -> new RepeatFailures(0)).hasMessageContaining("threshold");
  }

  @Test
  void shouldNotTakeChangedLinesForHeaders() {
    // given: SQL comments that were removed, and counters that were added
    String one = "--- drop table users\n";
    String other = "--- rebuild the index of orders\n";

    // when / then
    assertThat(failures.failed("sql", Set.of("t"), one)).isZero();
    assertThat(failures.failed("sql", Set.of("t"), other)).isZero();
    assertThat(failures.failed("c", Set.of("t"), "+++ left;\n")).isZero();
    assertThat(failures.failed("c", Set.of("t"), "+++ totally->different[thing];\n")).isZero();
    assertThat(DiffSketch.normalised("--- a/x.sql\r\n+++ b/x.sql\r\n--- gone\r\n"))
        .isEqualTo("--- gone");
  }

  @Property(tries = 200)
  void shouldFindAnyTextLikeItselfAndSimilarityTheSameBothWays(
      @ForAll String one, @ForAll String other) {
    // given
    DiffSketch a = DiffSketch.of(one);
    DiffSketch b = DiffSketch.of(other);

    // when / then
    assertThat(a.similarity(DiffSketch.of(one))).isEqualTo(1);
    assertThat(a.similarity(b)).isEqualTo(b.similarity(a)).isBetween(0.0, 1.0);
  }
}
