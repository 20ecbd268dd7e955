package dev.fairway.replay.report;

import com.github.weisj.jsvg.SVGDocument;
import com.github.weisj.jsvg.parser.LoaderContext;
import com.github.weisj.jsvg.parser.SVGLoader;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;

/** Drawings below each other as one PNG, in the light colours of the page. */
final class Raster {
  private static final int MARGIN = 16;
  private static final int CAPTION = 22;

  /** On the element: the renderer lets the rule of all text go before that of a class. */
  private static final String CAPTION_STYLE = "font-size: 14px; font-weight: bold; fill: #1c2128";

  private static final Pattern COLOUR = Pattern.compile("--([a-z]+): (#[0-9a-f]{6});");

  private Raster() {}

  /** A drawing and what stands above it. */
  record Panel(String caption, Svg drawing) {}

  static byte[] png(List<Panel> panels) {
    int height = MARGIN;
    StringBuilder shapes = new StringBuilder();
    for (Panel panel : panels) {
      shapes.append(
          String.format(
              Locale.ROOT,
              "<text style=\"%s\" x=\"%d\" y=\"%d\">%s</text>%n<g transform=\"translate(0 %d)\">%n",
              CAPTION_STYLE,
              MARGIN,
              height + CAPTION - 8,
              Html.escape(panel.caption()),
              height + CAPTION));
      shapes.append(panel.drawing().shapes()).append("</g>\n");
      height += CAPTION + panel.drawing().height() + MARGIN;
    }
    String document =
        String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">%n<style>%n",
                Svg.WIDTH,
                height)
            + lightCss()
            + "</style>\n"
            + shapes
            + "</svg>\n";
    return paint(document, height);
  }

  private static byte[] paint(String document, int height) {
    SVGDocument svg =
        new SVGLoader()
            .load(
                new ByteArrayInputStream(document.getBytes(StandardCharsets.UTF_8)),
                null,
                LoaderContext.createDefault());
    if (svg == null) {
      throw new IllegalStateException("Expected a drawing that can be rendered; this one cannot");
    }
    BufferedImage image = new BufferedImage(Svg.WIDTH, height, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.setColor(java.awt.Color.WHITE);
    graphics.fillRect(0, 0, Svg.WIDTH, height);
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    svg.render((javax.swing.JComponent) null, graphics);
    graphics.dispose();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      ImageIO.write(image, "png", out);
    } catch (IOException e) {
      throw new UncheckedIOException("The picture could not be encoded as PNG", e);
    }
    return out.toByteArray();
  }

  /** The shapes' rules with the light colours in place of variables, which only browsers know. */
  static String lightCss() {
    String css = Html.css();
    String light = css.substring(0, css.indexOf('}'));
    String rules = css.substring(css.indexOf("svg text"), css.indexOf(".legend"));
    Matcher colours = COLOUR.matcher(light);
    while (colours.find()) {
      rules = rules.replace("var(--" + colours.group(1) + ")", colours.group(2));
    }
    return rules.replace("svg ", "");
  }
}
