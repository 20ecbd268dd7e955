package dev.fairway.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.report.AgentLine.Activity;
import dev.fairway.replay.simulate.Policy;
import dev.fairway.replay.simulate.RunResult;
import dev.fairway.replay.simulate.Study;
import dev.fairway.replay.simulate.StudyResult;
import dev.fairway.replay.simulate.StudyTable;
import dev.fairway.replay.world.Parameter;
import dev.fairway.replay.world.Role;
import dev.fairway.replay.world.WorldOptions;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class SimulateReportTest {
  private static SimulateReport report;
  private static StudyResult result;

  @BeforeAll
  static void draw() throws Exception {
    // given: half an hour of ten agents, in the storm and with a queue
    WorldOptions halfAnHour =
        WorldOptions.defaults()
            .with(Parameter.AGENTS, "10")
            .with(Parameter.RHO, "1.2")
            .with(Parameter.HOURS, "0.5");
    Study study =
        new Study(
            halfAnHour,
            List.of(1L, 2L),
            List.of(Policy.FULL_JITTER_30, Policy.FIFO_BUCKET, Policy.CLAIRVOYANT),
            JsonNodeFactory.instance.objectNode());
    result = study.run(1, done -> {});
    report = SimulateReport.of(study, result);
  }

  @Test
  void shouldBeOneWellFormedPageThatLoadsNothing() throws Exception {
    // when
    String html = report.html();
    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(html.getBytes(StandardCharsets.UTF_8)));

    // then: three policies have a row of the limit, and a row of turns; waits stand in one
    assertThat(document.getElementsByTagName("svg").getLength()).isEqualTo(7);
    assertThat(html).doesNotContain("<script", "src=", "@import", "url(");
    assertThat(html).contains("prefers-color-scheme: dark");
    for (String name : List.of("full-jitter-30", "fifo-bucket", "clairvoyant")) {
      assertThat(html).contains("<h3>" + name + "</h3>");
    }
    assertThat(((Element) document.getElementsByTagName("table").item(0)).getTextContent())
        .contains("429s/1000");
    assertThat(((Element) document.getElementsByTagName("dl").item(0)).getTextContent())
        .contains("turn", "full-jitter-30", "clairvoyant", "429s/1000");
  }

  @Test
  void shouldDrawTheStormInRedAndTheSamePicturesAsPng() throws Exception {
    // when
    byte[] png = report.png();
    BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));

    // then: the colours of calls, waits and 429s are all there
    assertThat(image.getWidth()).isEqualTo(Svg.WIDTH);
    Set<Integer> colours = new HashSet<>();
    for (int y = 0; y < image.getHeight(); y++) {
      for (int x = 0; x < image.getWidth(); x++) {
        colours.add(image.getRGB(x, y) & 0xffffff);
      }
    }
    assertThat(colours).contains(0x2f6fd0, 0xf0b43c, 0xf7deab, 0xd3222a, 0xc3cad4, 0x8e44ad);
    String wanted = System.getProperty("fairway.picture");
    if (wanted != null) {
      Files.write(Path.of(wanted + ".png"), png);
      Files.writeString(Path.of(wanted + ".html"), report.html());
    }
  }

  @Test
  void shouldKeepEveryRefusalAndTurnOfAWatchedRun() {
    // given
    RunWatch watch = report.run("full-jitter-30");
    RunResult counted = result.runs().get(Policy.FULL_JITTER_30).get(0);

    // then
    assertThat(watch.agents().stream().mapToInt(a -> a.refusalsMs().size()).sum())
        .isEqualTo((int) counted.refusals());
    assertThat(watch.wantedMs()).hasSize((int) counted.turns());
    assertThat(watch.refusalsLeftOut()).isZero();
    for (AgentLine agent : watch.agents()) {
      assertThat(agent.stretches()).allMatch(stretch -> stretch.startMs() <= stretch.endMs());
    }
  }

  @Test
  void shouldShowAgentsAndRolesThatHadNoTurn() throws Exception {
    // given: three minutes, in which no planner has ended, so that nobody reviews
    Study study =
        new Study(
            WorldOptions.defaults().with(Parameter.AGENTS, "10").with(Parameter.HOURS, "0.05"),
            List.of(1L),
            List.of(Policy.FIFO_BUCKET),
            JsonNodeFactory.instance.objectNode());

    // when
    SimulateReport brief = SimulateReport.of(study, study.run(1, done -> {}));

    // then
    RunWatch watch = brief.run("fifo-bucket");
    assertThat(watch.waitsMs(Role.REVIEWER)).isEmpty();
    assertThat(watch.agents())
        .hasSize(10)
        .extracting(AgentLine::name)
        .contains("g0.planner", "g0.worker5", "g0.reviewer", "g0.lint1");
    assertThat(brief.html()).containsPattern(">reviewer<[^>]*>\\s*<[^>]*>fifo-bucket<(?s:.*?)>-<");
  }

  @Test
  void shouldSayWhatItsScalesAre() {
    assertThat(report.html())
        .containsPattern(">the limit</text>\\s*<text [^>]*>[1-9][0-9,]* tokens</text>")
        .contains("Turns that were given up have none");
  }

  @Test
  void shouldNameMetricsOnThePageAsInTheTerminal() {
    String heads = StudyTable.lines(result).get(1);
    for (String title : List.of("429s/1000", "leaf/c", "wait s/PR", "from waits")) {
      assertThat(heads).contains(title);
      assertThat(report.html()).contains("<tr><td>" + title + "</td>", "<dt>" + title + "</dt>");
    }
    assertThat(report.html()).contains("In JSON: leaf_p50_vs_clairvoyant.");
  }

  @Test
  void shouldPictureTheControlAndTheMostTellingOfTheOthers() {
    assertThat(SimulateReport.pictured(Policy.withoutKnobs()))
        .containsExactly(Policy.FULL_JITTER_30, Policy.SEED, Policy.FAIRWAY, Policy.CLAIRVOYANT);
    assertThat(SimulateReport.pictured(List.of(Policy.SHARED_RPM)))
        .containsExactly(Policy.SHARED_RPM);
    assertThat(SimulateReport.pictured(List.of(Policy.values())))
        .containsExactly(
            Policy.FULL_JITTER_30, Policy.FAIRWAY, Policy.FAIRWAY_KNOBS, Policy.CLAIRVOYANT);
    assertThat(SimulateReport.pictured(List.of(Policy.SEED, Policy.SEED_KNOBS)))
        .containsExactly(Policy.SEED, Policy.SEED_KNOBS);
  }

  @Test
  void shouldTellWavesFromWhatComesOneByOne() {
    // given: sixty 429s, one a second, and sixty at once
    Window minute = new Window(0, 60_000);
    List<Double> even = java.util.stream.IntStream.range(0, 60).mapToObj(i -> i * 1000.0).toList();
    List<Double> wave = java.util.Collections.nCopies(60, 30_000.0);

    // then
    assertThat(Bins.of(even, minute, 1000).dispersion()).isZero();
    assertThat(Bins.of(wave, minute, 1000).dispersion()).isEqualTo(59);
    assertThat(Bins.of(wave, minute, 1000).correlation(Bins.of(wave, minute, 1000))).isEqualTo(1);
    assertThat(Bins.of(List.of(), minute, 1000).dispersion()).isNaN();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 300, NaN, 'no 429s, so no waves.'",
    "1, 300, 0.9, cannot be said of one 429: it takes 30 or more.",
    "29, 300, 0.9, cannot be said of 29 429s: it takes 30 or more.",
    "300, 29, 0.9, cannot be said of so short a run",
    "300, 300, NaN, cannot be said of so short a run",
    "30, 30, 0.5, 'yes. The correlation is 0.50, not below the bound of 0.5: the wishes of turns account for 25 % '",
    "300, 300, 0.4, 'no. The correlation is 0.40, below the bound of 0.5: the wishes of turns account for 16 % '",
    "300, 300, -0.6, 'no. The correlation is -0.60, below the bound of 0.5: 429s do not become more '"
  })
  void shouldAnswerWhetherTheWavesLineUp(
      long refusals, int intervals, double correlation, String expected) {
    assertThat(new Waves(refusals, intervals, 1, 1, 1, 1, correlation).answer())
        .startsWith(expected);
  }

  @Test
  void shouldAnswerOfEachPolicyThatItPictures() {
    for (String name : List.of("full-jitter-30", "fifo-bucket", "clairvoyant")) {
      assertThat(report.html())
          .contains(
              "<strong>"
                  + name
                  + "</strong>: "
                  + Waves.of(report.run(name), new Window(0, 1_800_000)).answer());
    }
    assertThat(Waves.of(report.run("full-jitter-30"), new Window(0, 1_800_000)).answer())
        .startsWith("no. The correlation is ");
  }

  @Test
  void shouldNameTheKnobsOnThePage() throws Exception {
    // given
    ObjectNode knobs = JsonNodeFactory.instance.objectNode();
    knobs.putObject("margin").put("start", 0.7);
    Study study =
        new Study(
            WorldOptions.defaults().with(Parameter.AGENTS, "10").with(Parameter.HOURS, "0.1"),
            List.of(1L),
            List.of(Policy.FAIRWAY, Policy.FAIRWAY_KNOBS),
            knobs);

    // when
    String html = SimulateReport.of(study, study.run(1, done -> {})).html();

    // then
    assertThat(html)
        .contains(
            "<dt>fairway</dt><dd>" + Policy.FAIRWAY.meaning() + "</dd>",
            "<dt>fairway+knobs</dt><dd>As fairway, with the knobs of this run in its quota. They are"
                + " {&quot;margin&quot;:{&quot;start&quot;:0.7}}.</dd>",
            "<dt>knobs</dt><dd>{&quot;margin&quot;:{&quot;start&quot;:0.7}}</dd>");
  }

  @Test
  void shouldLabelACloseUpInTheUnitOfItsRun() {
    // given: a whole run of three hours, and seven minutes of it
    Svg whole = new Svg(100);
    Svg close = new Svg(100);
    Svg seconds = new Svg(100);

    // when
    new TimeAxis(new Window(0, 10_800_000)).draw(whole, 0);
    new TimeAxis(new Window(600_000, 1_020_000)).draw(close, 0);
    new TimeAxis(new Window(0, 60_000)).draw(seconds, 0);

    // then
    assertThat(whole.shapes()).contains(">30 min<").doesNotContain(" s<");
    assertThat(close.shapes()).contains(">10.0 min<", ">10.5 min<").doesNotContain(" s<");
    assertThat(seconds.shapes()).contains(">30 s<").doesNotContain("min<");
  }

  @Test
  void shouldWrapWordsAndLoseNone() {
    // given
    String text = "parameters: " + "name=value ".repeat(60) + "x".repeat(400);

    // when
    String svg = TextPicture.words(List.of(text)).shapes();

    // then
    String written =
        svg.lines().map(line -> line.replaceAll("<[^>]+>", "")).collect(Collectors.joining());
    assertThat(written.replace(" ", "")).isEqualTo(text.replace(" ", ""));
    assertThat(svg.lines().mapToInt(line -> line.replaceAll("<[^>]+>", "").length()).max())
        .hasValue(170);
  }

  @Test
  void shouldCutAStretchThatCrossesTheWindow() {
    // given
    AgentLine agent =
        new AgentLine(
            "a",
            0,
            List.of(new AgentLine.Stretch(Activity.CALL, -5_000, 20_000)),
            List.of(2_000.0, 50_000.0));

    // when
    String svg = TurnPicture.draw("t", List.of(agent), new Window(0, 10_000), List.of(agent));

    // then: the call covers the whole row, and one 429 lies in the window
    assertThat(svg).contains("class=\"call\" d=\"M118.0");
    assertThat(svg).contains("h1018.00v");
    assertThat(svg).containsOnlyOnce("h-1.20z");
  }
}
