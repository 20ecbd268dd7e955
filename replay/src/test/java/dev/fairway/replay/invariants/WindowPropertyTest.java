package dev.fairway.replay.invariants;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.QuotaDefinition.Preset;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Fixed and rolling windows against providers that count by themselves, with headers or without.
 */
class WindowPropertyTest {
  @Provide
  Arbitrary<List<Action>> minutes() {
    return Actions.minutes();
  }

  @Property
  void shouldLetNoProviderRefuseACall(
      @ForAll Preset preset, @ForAll boolean headers, @ForAll("minutes") List<Action> actions) {
    List<Step> steps = WindowRun.of(preset, headers, actions);
    assertThat(WindowBook.providersRefuseNothing(steps)).isEmpty();
    assertThat(WindowBook.nothingGoesRightAfterAReset(steps)).isEmpty();
  }

  @Property
  void shouldCountEveryCallOfTheLastMinuteAndNoOther(
      @ForAll boolean headers, @ForAll("minutes") List<Action> actions) {
    List<Step> steps = WindowRun.of(Preset.FAIRWAY, headers, actions);
    assertThat(LastMinuteBook.grantsHaveRoom(steps)).isEmpty();
    assertThat(LastMinuteBook.nothingIsForgotten(steps)).isEmpty();
  }

  @Property
  void shouldLetNobodyWaitWhoMayGo(
      @ForAll Preset preset, @ForAll boolean headers, @ForAll("minutes") List<Action> actions) {
    List<Step> steps = WindowRun.of(preset, headers, actions);
    assertThat(LastMinuteBook.whoMayGoGoes(steps)).isEmpty();
    assertThat(TickInvariants.nothingIsOverdue(steps)).isEmpty();
    assertThat(QueueInvariants.everybodyIsAnswered(steps)).isEmpty();
  }

  @Property
  void shouldAddUpInWindows(
      @ForAll Preset preset, @ForAll boolean headers, @ForAll("minutes") List<Action> actions) {
    List<Step> steps = WindowRun.of(preset, headers, actions);
    assertThat(Invariants.conserved(steps)).isEmpty();
    assertThat(JournalInvariants.journalDecidesItselfAgain(steps)).isEmpty();
  }
}
