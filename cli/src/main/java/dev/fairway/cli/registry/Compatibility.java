package dev.fairway.cli.registry;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/** Which earlier versions a new version has to get on with, and in which direction. */
enum Compatibility {
  NONE(false, false, false),
  BACKWARD(true, false, false),
  BACKWARD_TRANSITIVE(true, false, true),
  FORWARD(false, true, false),
  FORWARD_TRANSITIVE(false, true, true),
  FULL(true, true, false),
  FULL_TRANSITIVE(true, true, true);

  private final boolean readsEarlier;
  private final boolean readByEarlier;
  private final boolean transitive;

  Compatibility(boolean readsEarlier, boolean readByEarlier, boolean transitive) {
    this.readsEarlier = readsEarlier;
    this.readByEarlier = readByEarlier;
    this.transitive = transitive;
  }

  /** The level of this name, in any case; empty if there is none. */
  static Optional<Compatibility> of(String name) {
    return Arrays.stream(values()).filter(level -> level.name().equalsIgnoreCase(name)).findFirst();
  }

  /**
   * What is wrong with a new version, in words; empty if nothing is.
   *
   * @param earlier versions of the subject, oldest first
   */
  Optional<String> violation(Schema proposed, List<Schema> earlier) {
    int first = transitive ? 0 : Math.max(0, earlier.size() - 1);
    // The latest version is the one that people look at first.
    for (int i = earlier.size() - 1; i >= first; i--) {
      Schema version = earlier.get(i);
      Optional<String> problem =
          (readsEarlier ? mismatch(proposed, version) : Optional.<String>empty())
              .or(() -> readByEarlier ? mismatch(version, proposed) : Optional.empty());
      if (problem.isPresent()) {
        int number = i + 1;
        return problem.map(
            p ->
                "Schema being registered is incompatible with version %d at level %s: %s"
                    .formatted(number, name(), p));
      }
    }
    return Optional.empty();
  }

  private static Optional<String> mismatch(Schema reader, Schema writer) {
    SchemaCompatibility.SchemaCompatibilityResult result =
        SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult();
    return result.getCompatibility() == SchemaCompatibility.SchemaCompatibilityType.COMPATIBLE
        ? Optional.empty()
        : Optional.of(
            result.getIncompatibilities().stream()
                .map(i -> i.getType() + " at " + i.getLocation() + " (" + i.getMessage() + ")")
                .collect(Collectors.joining("; ")));
  }
}
