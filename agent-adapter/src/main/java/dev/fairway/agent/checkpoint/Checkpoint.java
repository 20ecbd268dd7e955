package dev.fairway.agent.checkpoint;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Where an agent stands before it waits. Immutable.
 *
 * @param id name in the store, {@code [A-Za-z0-9][A-Za-z0-9._-]{0,99}}: one for each thing that
 *     waits
 * @param goal what it works on
 * @param step where it is in that
 * @param files what it has read, with the content that it read
 * @param decisions what it decided, oldest first
 * @param next the call that it waits to make, or null if it waits for something else
 * @param savedAt when it was made, in milliseconds
 */
public record Checkpoint(
    String id,
    String goal,
    String step,
    List<FileState> files,
    List<Choice> decisions,
    NextCall next,
    Instant savedAt) {

  /** Longest goal, step, decision or reason, in characters. */
  public static final int TEXT_CHARS_MAX = 100_000;

  /** Most files. */
  public static final int FILES_MAX = 10_000;

  /** Most decisions. */
  public static final int DECISIONS_MAX = 10_000;

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

  /**
   * A decision.
   *
   * @param what what was decided
   * @param why the reason
   */
  public record Choice(String what, String why) {
    /** Checks that both are there. */
    public Choice {
      text("what was decided", what);
      text("the reason of a decision", why);
    }
  }

  /** Checks names, sizes, and that no file is named twice. */
  public Checkpoint {
    checkId(id);
    text("a goal", goal);
    text("a step", step);
    files = List.copyOf(files);
    decisions = List.copyOf(decisions);
    atMost("files", files.size(), FILES_MAX);
    atMost("decisions", decisions.size(), DECISIONS_MAX);
    long names = files.stream().map(FileState::path).distinct().count();
    if (names != files.size()) {
      throw new IllegalArgumentException(
          "Expected each file once in checkpoint " + id + ", but found one twice.");
    }
    if (savedAt == null) {
      throw new IllegalArgumentException(
          "Expected the time of checkpoint " + id + ", but found none.");
    }
    savedAt = Instant.ofEpochMilli(savedAt.toEpochMilli());
  }

  /**
   * Starts a checkpoint.
   *
   * @param id name in the store
   * @param goal what the agent works on
   */
  public static Builder of(String id, String goal) {
    return new Builder(checkId(id), goal);
  }

  static String checkId(String id) {
    if (id == null || !ID.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "Expected a checkpoint id of 1 to 100 characters A-Z a-z 0-9 . _ - that begins with a"
              + " letter or a digit, but found "
              + (id == null ? "null" : "\"" + id.substring(0, Math.min(120, id.length())) + "\"")
              + ".");
    }
    return id;
  }

  static String text(String what, String text) {
    if (text == null || text.length() > TEXT_CHARS_MAX) {
      throw new IllegalArgumentException(
          "Expected "
              + what
              + " of at most "
              + TEXT_CHARS_MAX
              + " characters, but found "
              + (text == null ? "null" : text.length() + " of them")
              + ".");
    }
    return text;
  }

  private static void atMost(String what, int found, int max) {
    if (found > max) {
      throw new IllegalArgumentException(
          "Expected at most " + max + " " + what + " in a checkpoint, but found " + found + ".");
    }
  }

  /** Collects a checkpoint. Not thread-safe. */
  public static final class Builder {
    private final String id;
    private final String goal;
    private String step = "";
    private final Map<String, FileState> files = new LinkedHashMap<>();
    private final List<Choice> decisions = new ArrayList<>();
    private NextCall next;

    private Builder(String id, String goal) {
      this.id = id;
      this.goal = goal;
    }

    /** Where it is. */
    public Builder step(String step) {
      this.step = step;
      return this;
    }

    /**
     * A file that was read, as it is now; hashes it. The same file again replaces what was noted.
     *
     * @param root folder that the path is in
     * @param path relative to the root
     * @throws java.io.UncheckedIOException if it is there and cannot be read
     */
    public Builder file(Path root, Path path) {
      return file(FileState.of(root, path));
    }

    /** A file as it was read, from {@link FileState#of(String, byte[])}, say. */
    public Builder file(FileState file) {
      files.put(file.path(), file);
      return this;
    }

    /** A decision and its reason. */
    public Builder decision(String what, String why) {
      decisions.add(new Choice(what, why));
      return this;
    }

    /** The exact call that comes next. */
    public Builder next(NextCall next) {
      this.next = next;
      return this;
    }

    /**
     * The checkpoint, made now.
     *
     * @throws IllegalArgumentException if something is too long or too much
     */
    public Checkpoint build() {
      return new Checkpoint(
          id, goal, step, List.copyOf(files.values()), decisions, next, Instant.now());
    }
  }
}
