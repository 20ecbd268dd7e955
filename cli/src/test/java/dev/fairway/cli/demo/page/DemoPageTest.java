package dev.fairway.cli.demo.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.cli.demo.page.DemoPage.Definition;
import dev.fairway.cli.demo.page.DemoPage.Row;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

class DemoPageTest {

  @Test
  void shouldEscapeTextAndStayWellFormedWithoutAgents() throws Exception {
    // given
    DemoPage page =
        new DemoPage(
            "turns from <a> & \"b\"",
            1,
            List.of(new Row("a < b", "1", "2", true)),
            List.of(new Definition("x & y", "<none>")),
            List.of(),
            List.of());

    // when
    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(page.render().getBytes(StandardCharsets.UTF_8)));

    // then
    assertThat(document.getElementsByTagName("p").item(0).getTextContent())
        .isEqualTo("turns from <a> & \"b\"");
    assertThat(document.getElementsByTagName("dd").item(0).getTextContent().trim())
        .isEqualTo("<none>");
    assertThat(document.getElementsByTagName("strong").getLength()).isEqualTo(2);
  }
}
