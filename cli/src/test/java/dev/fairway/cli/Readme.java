package dev.fairway.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The sessions of the README: what is typed, and what is printed. */
public final class Readme {

  private static final Path FILE = Path.of("..", "README.md");

  /**
   * One command.
   *
   * @param command what stands behind the prompt, in one line
   * @param input lines of its here-document
   * @param output lines that it prints
   */
  public record Step(String command, List<String> input, List<String> output) {}

  private Readme() {}

  /** Every command with a prompt, in order. */
  public static List<Step> steps() throws IOException {
    List<Step> steps = new ArrayList<>();
    Step step = null;
    boolean inInput = false;
    for (String line : Files.readAllLines(FILE, StandardCharsets.UTF_8)) {
      if (line.startsWith("$ ")) {
        step = new Step(line.substring(2), new ArrayList<>(), new ArrayList<>());
        steps.add(step);
        inInput = line.endsWith("<<'END'");
      } else if (step != null && inInput) {
        inInput = !line.equals("END");
        if (inInput) {
          step.input().add(line);
        }
      } else if (line.isEmpty() || line.startsWith("```")) {
        step = null;
      } else if (step != null) {
        step.output().add(line);
      }
    }
    return steps;
  }
}
