package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimulateCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String line) {
    return Fairway.run(
        new PrintWriter(out, true), new PrintWriter(err, true), ("simulate " + line).split(" "));
  }

  @ParameterizedTest
  @ValueSource(strings = {"--html", "--png", "--json"})
  void shouldSayBeforeItRunsThatAFileCannotBeWritten(String option) {
    // when
    int code = run(option + " /no/such/folder/file --hours 1000");

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).contains(option, "there is no folder /no/such/folder");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void shouldPrintEachPolicyBesideTheReferenceAsJson() throws IOException {
    // when
    int code =
        run(
            "--agents 10 --rho 1.2 --seeds 4,6-7 --hours 0.4 --policies seed,full-jitter-30 --json -");

    // then
    assertThat(code).isZero();
    JsonNode json = new ObjectMapper().readTree(out.toString());
    assertThat(json.get("scenario").asText()).isEqualTo("fleet");
    assertThat(json.get("agents").asInt()).isEqualTo(10);
    assertThat(json.get("rho").asDouble()).isEqualTo(1.2);
    assertThat(json.get("seeds")).hasSize(3);
    assertThat(json.get("policies").fieldNames())
        .toIterable()
        .containsExactlyInAnyOrder("full-jitter-30", "seed");
    assertThat(json.get("policies").get("seed").fieldNames())
        .toIterable()
        .contains(
            "rejections_per_1000_calls",
            "useful_vs_clairvoyant",
            "tokens_vs_useful",
            "tokens_per_finished_pr",
            "finished_vs_clairvoyant",
            "critical_wait_vs_clairvoyant",
            "critical_wait_s",
            "leaf_p50_vs_clairvoyant",
            "task_p50_s",
            "task_p95_s",
            "replans_from_waits",
            "spread");
    assertThat(json.get("parameters").get("hours").asDouble()).isEqualTo(0.4);
    assertThat(json.get("parameters").get("outside_burst").asDouble()).isEqualTo(0.25);
  }

  @Test
  void shouldDrawThePageAndThePicture(@TempDir Path folder) throws IOException {
    // when
    Path page = folder.resolve("page.html");
    Path picture = folder.resolve("page.png");
    int code =
        run(
            "--agents 10 --seeds 4 --hours 0.2 --policies fifo-bucket --html "
                + page
                + " --png "
                + picture);

    // then
    assertThat(code).isZero();
    assertThat(page).content().contains("fifo-bucket", "<svg");
    assertThat(picture).binaryContent().startsWith(0x89, 'P', 'N', 'G');
  }

  @Test
  void shouldTellInItsHelpWhatBackoffAloneIsJudgedBy() {
    // when
    int code = run("--help");

    // then
    assertThat(code).isZero();
    assertThat(out.toString().replaceAll("\\s+", " "))
        .contains(
            "at least 97 % of the work,",
            "at least 97 % of the pull requests,",
            "more than 60 s longer",
            "at most 3 % more tokens",
            "seed+knobs and fairway+knobs");
  }

  @Test
  void shouldDrawOneWorldOnly() {
    assertThat(run("--rho 0.8,1.0 --html x.html")).isEqualTo(2);
    assertThat(err.toString()).contains("Expected one world for --html and --png, but found 2");
  }

  @Test
  void shouldPrintATableAndWhereBackoffAloneWouldDo() {
    // when
    int code =
        run(
            "--agents 10 --seeds 1 --hours 0.2 --policies full-jitter-30,clairvoyant --tick"
                + " --headers=false --sweep replan-cost=1,5-20 --sweep patience-s=60");

    // then
    assertThat(code).isZero();
    assertThat(out.toString())
        .contains("429s/1000")
        .contains("tick=true")
        .contains("headers=false")
        .contains("replan_cost_least=1 replan_cost_most=1")
        .contains("Where backoff alone would do:")
        .contains("  replan-cost=5-20 patience-s=60: ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--agents 15",
        "--agents none",
        "--rho 0",
        "--seeds 5-1",
        "--seeds 1,1",
        "--seeds x",
        "--policies best",
        "--window leaky",
        "--tick=maybe",
        "--sweep patience-s",
        "--sweep nothing=1",
        "--replan-cost 9-1",
        "--knobs [1]",
        "--knobs {",
        "--policies fairway+knobs",
        "--policies fifo-bucket --knobs {\"margin\":{\"start\":0.7}}",
        "--policies seed+knobs --knobs {}",
        "--jobs 0",
        "--scenario storm"
      })
  void shouldEndWithTwoOnWrongUsage(String line) {
    assertThat(run(line)).isEqualTo(2);
    assertThat(err.toString()).startsWith("fairway: Expected ").contains("fairway simulate --help");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void shouldRunTheSameFleetWithKnobsAndWithout() throws IOException {
    // given
    String world = "--agents 10 --seeds 4 --hours 0.3 --headers=false --policies fairway --json -";
    run(world);
    JsonNode without = new ObjectMapper().readTree(out.toString());
    out.getBuffer().setLength(0);

    // when
    int code = run(world + " --knobs {\"margin\":{\"start\":0.5}}");

    // then
    assertThat(code).isZero();
    JsonNode with = new ObjectMapper().readTree(out.toString());
    JsonNode policies = with.get("policies");
    assertThat(policies.fieldNames()).toIterable().containsExactly("fairway", "fairway+knobs");
    assertThat(policies.get("fairway")).isEqualTo(without.get("policies").get("fairway"));
    assertThat(policies.get("fairway+knobs")).isNotEqualTo(policies.get("fairway"));
    assertThat(with.get("parameters").get("knobs")).hasToString("{\"margin\":{\"start\":0.5}}");
    assertThat(without.get("parameters").has("knobs")).isFalse();
  }

  @Test
  void shouldRunThePairsOfAllWithKnobsOnly() {
    // when
    int code = run("--agents 10 --seeds 4 --hours 0.02 --knobs {\"margin\":{\"start\":0.5}}");

    // then
    assertThat(code).isZero();
    assertThat(out.toString())
        .containsSubsequence("\nseed ", "\nseed+knobs ", "\nfairway ", "\nfairway+knobs ")
        .contains(" knobs={\"margin\":{\"start\":0.5}}");
    out.getBuffer().setLength(0);
    assertThat(run("--agents 10 --seeds 4 --hours 0.02")).isZero();
    assertThat(out.toString()).contains("\nfairway ").doesNotContain("knobs");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{\"leases\":1}", "{\"margin\":{\"strt\":0.7}}", "{\"margin\":{\"start\":7}}"})
  void shouldNameAKnobThatNoQuotaHasBeforeAnythingRuns(String knobs) {
    // when
    int code = run("--seeds 1 --hours 0.1 --policies fairway --knobs " + knobs);

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("fairway: Expected fields of a quota for --knobs, but: ")
        .doesNotContain("seed");
  }
}
