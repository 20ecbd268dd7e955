package dev.fairway.it.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.replay.verify.JournalVerifier;
import dev.fairway.replay.verify.VerifyReport;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * {@code kill -9} of {@code up} under load: nothing is lost, nothing is done twice, and the records
 * of agents, provider and journal agree. {@code -Dfairway.crash.kills} says how often (profile
 * {@code faults}: 20), {@code -Dfairway.crash.seed} repeats the moments and the fleet's choices.
 */
class KillIT {
  @TempDir static Path folder;

  private static KillRun run;
  private static Evidence evidence;
  private static Join.Result join;

  @BeforeAll
  static void killAndGather() throws Exception {
    long seed = Long.getLong("fairway.crash.seed", System.nanoTime());
    int kills = Integer.getInteger("fairway.crash.kills", 2);
    System.out.println("KillIT: -Dfairway.crash.seed=" + seed + " -Dfairway.crash.kills=" + kills);
    run = new KillRun(folder, kills, seed);
    run.run();
    evidence = run.evidence();
    join = Join.of(evidence);
    System.out.println(Report.of(seed, evidence, join, run.agents()));
  }

  @AfterAll
  static void stop() throws Exception {
    if (run != null) {
      run.close();
    }
  }

  @Test
  void shouldAgreeInEveryRecord() {
    assertThat(join.differences().total()).as(join.differences().told()).isZero();
    assertThat(run.agents().stream().flatMap(agent -> agent.troubles().stream())).isEmpty();
  }

  @Test
  void shouldHaveBeenKilledUnderLoad() {
    // given: what would make the agreement worth little
    assertThat(join.journal().leases).hasSizeGreaterThan(50);
    // then
    assertThat(evidence.ledger()).extracting(call -> call.status()).contains(200, 429);
    assertThat(evidence.lives()).hasSizeGreaterThan(1);
    assertThat(Report.recoveriesMs(evidence)).isNotEmpty();
  }

  @Test
  void shouldDecideTheJournalAgainWithoutMismatch() throws Exception {
    // when: the real command, over the broker
    UpChild.VerifyResult verified = run.up().verify();

    // then
    JsonNode report = new ObjectMapper().readTree(verified.report());
    assertThat(verified.exitCode()).as(verified.report()).isZero();
    assertThat(report.path("mismatches").asInt(-1)).isZero();
    assertThat(report.path("conserved").asBoolean()).isTrue();
    assertThat(report.path("skipped").asInt(-1)).isZero();
    assertThat(report.path("inputs").asInt()).isGreaterThanOrEqualTo(evidence.inputs().size());
  }

  /** The join is worth what it finds. */
  @ParameterizedTest
  @EnumSource
  void shouldFindWhatWasDoctored(Doctored doctored) {
    // when
    Differences found = Join.of(doctored.alter(evidence)).differences();

    // then
    assertThat(found.of(doctored.kind())).as(found.told()).isPositive();
  }

  @Test
  void shouldFindWhatWasDoctoredByFolding() {
    // given
    JournalVerifier verifier = new JournalVerifier();

    // when
    Doctored.CHARGE_ALTERED.alter(evidence).journal().forEach(verifier::accept);

    // then
    VerifyReport report = verifier.report();
    assertThat(report.mismatches()).isPositive();
    assertThat(report.conserved()).isFalse();
  }
}
