package dev.fairway.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.fairway.replay.report.AgentLine.Activity;
import dev.fairway.replay.simulate.Policy;
import dev.fairway.replay.simulate.RunResult;
import dev.fairway.replay.simulate.Study;
import dev.fairway.replay.simulate.StudyResult;
import dev.fairway.replay.world.Parameter;
import dev.fairway.replay.world.WorldOptions;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
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
        .contains("rejections per 1000 calls");
    assertThat(((Element) document.getElementsByTagName("dl").item(0)).getTextContent())
        .contains("turn", "full-jitter-30", "clairvoyant", "rejections per 1000 calls");
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
    assertThat(colours).contains(0x2f6fd0, 0xf0b43c, 0xd3222a, 0xc3cad4);
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
  void shouldPictureTheControlAndTheMostTellingOfTheOthers() {
    assertThat(SimulateReport.pictured(List.of(Policy.values())))
        .containsExactly(Policy.FULL_JITTER_30, Policy.SEED, Policy.FAIRWAY, Policy.CLAIRVOYANT);
    assertThat(SimulateReport.pictured(List.of(Policy.SHARED_RPM)))
        .containsExactly(Policy.SHARED_RPM);
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
