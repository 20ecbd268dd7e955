package dev.fairway.agent.checkpoint;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What became of a checkpoint's ground while nobody worked. Immutable.
 *
 * @param checkpoint where the agent stood
 * @param changed files that are not what they were, in the checkpoint's order: only these need be
 *     read again
 * @param unchanged paths of the others
 * @param sendAsIs whether the next call may be sent as it is
 * @param reason why, or why not, for people
 */
public record Resumption(
    Checkpoint checkpoint,
    List<Change> changed,
    List<String> unchanged,
    boolean sendAsIs,
    String reason) {

  /** What happened to a file. */
  public enum Kind {
    /** It has another content. */
    MODIFIED,
    /** It is not there any more, or what is there is no file. */
    DELETED,
    /** It was not there, and is now. */
    CREATED
  }

  /**
   * A file that changed.
   *
   * @param kind what happened to it
   * @param before as it was read
   * @param now as it is
   */
  public record Change(Kind kind, FileState before, FileState now) {}

  /** Copies the lists. */
  public Resumption {
    changed = List.copyOf(changed);
    unchanged = List.copyOf(unchanged);
  }

  /**
   * Compares a checkpoint with what is there now. The call may be sent as it is if no file changed
   * and its deadline, by this machine's clock, is not over.
   *
   * @param root folder that the files are in
   * @throws java.io.UncheckedIOException if a file is there and cannot be read, or has a name that
   *     this process cannot write
   */
  public static Resumption of(Checkpoint checkpoint, Path root) {
    List<Change> changed = new ArrayList<>();
    List<String> unchanged = new ArrayList<>();
    for (FileState before : checkpoint.files()) {
      FileState now = before.now(root);
      if (now.equals(before)) {
        unchanged.add(before.path());
      } else {
        changed.add(new Change(kind(before, now), before, now));
      }
    }
    NextCall next = checkpoint.next();
    Instant deadline = next == null ? null : next.call().deadline();
    String reason;
    boolean asIs = false;
    if (next == null) {
      reason = "the checkpoint holds no call";
    } else if (!changed.isEmpty()) {
      reason =
          changed.size()
              + " of "
              + checkpoint.files().size()
              + " files changed, the first of them "
              + changed.get(0).before().path();
    } else if (deadline != null && !deadline.isAfter(Instant.now())) {
      reason = "its deadline was " + deadline;
    } else {
      asIs = true;
      reason = "none of " + unchanged.size() + " files changed";
    }
    return new Resumption(checkpoint, changed, unchanged, asIs, reason);
  }

  private static Kind kind(FileState before, FileState now) {
    if (!now.existed()) {
      return Kind.DELETED;
    }
    return before.existed() ? Kind.MODIFIED : Kind.CREATED;
  }
}
