package dev.fairway.cli.registry;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/**
 * Subjects, their versions, and ids. Two schemas are one, with one id, if Avro writes them the
 * same: white space and the order of attributes don't count, a doc does. Every change is on disk
 * before it is answered. Thread-safe: one change at a time, readers see the state before or after
 * it.
 */
final class SchemaStore implements AutoCloseable {

  static final int SUBJECT_LENGTH_MAX = 300;

  /**
   * Where the registry is full.
   *
   * @param subjectsMax most subjects, and most subjects with a level of their own
   * @param schemasMax most schemas
   * @param versionsMax most versions of a subject
   * @param textCharsMax most characters of all schemas together
   */
  record Limits(int subjectsMax, int schemasMax, int versionsMax, long textCharsMax) {

    static final Limits DEFAULT = new Limits(20_000, 10_000, 1_000, 64L * 1024 * 1024);
  }

  /** One version of a subject. */
  record Version(String subject, int version, int id, String schema) {}

  private final Limits limits;
  private final StoreFile file;
  private final Map<String, Integer> ids = new HashMap<>();
  private long textChars;
  private volatile StoreState state;

  SchemaStore(Path folder, Limits limits) throws IOException {
    this.limits = limits;
    file = new StoreFile(folder);
    try {
      state = file.load();
    } catch (IOException e) {
      file.close();
      throw e;
    }
    state.schemas().forEach(this::remember);
  }

  private void remember(String text) {
    ids.put(text, ids.size() + 1);
    textChars += text.length();
  }

  /** The id of the schema, which is the subject's newest version unless it already was one. */
  synchronized int register(String subject, String schemaText) {
    Schema schema = parse(schemaText);
    String text = schema.toString();
    Integer known = ids.get(text);
    List<Integer> versions = state.versions().getOrDefault(subject, List.of());
    if (known != null && versions.contains(known)) {
      return known;
    }
    checkSubject(subject);
    checkRoom(subject, versions, known == null ? text : null);
    compatibility(subject)
        .violation(schema, parsed(versions))
        .ifPresent(
            violation -> {
              throw RegistryError.incompatible(violation);
            });
    List<String> schemas = state.schemas();
    if (known == null) {
      schemas = new ArrayList<>(schemas);
      schemas.add(text);
    }
    int id = known == null ? schemas.size() : known;
    List<Integer> newVersions = new ArrayList<>(versions);
    newVersions.add(id);
    Map<String, List<Integer>> subjects = new LinkedHashMap<>(state.versions());
    subjects.put(subject, List.copyOf(newVersions));
    replace(new StoreState(schemas, subjects, state.compatibility(), state.subjectCompatibility()));
    if (known == null) {
      remember(text);
    }
    return id;
  }

  private void checkRoom(String subject, List<Integer> versions, String newText) {
    if (versions.size() >= limits.versionsMax()) {
      throw RegistryError.full(
          "%d versions of subject %s".formatted(limits.versionsMax(), subject));
    }
    if (versions.isEmpty() && state.versions().size() >= limits.subjectsMax()) {
      throw RegistryError.full("%d subjects".formatted(limits.subjectsMax()));
    }
    if (newText != null
        && (state.schemas().size() >= limits.schemasMax()
            || textChars + newText.length() > limits.textCharsMax())) {
      throw RegistryError.full(
          "%d schemas of %d characters together".formatted(state.schemas().size(), textChars));
    }
  }

  /** The version of the subject that is this schema. */
  synchronized Version lookUp(String subject, String schemaText) {
    List<Integer> versions = versionsOf(subject);
    Integer id = ids.get(parse(schemaText).toString());
    int index = id == null ? -1 : versions.indexOf(id);
    if (index < 0) {
      throw RegistryError.schemaNotFound("under subject '" + subject + "'");
    }
    return new Version(subject, index + 1, id, state.schemas().get(id - 1));
  }

  /**
   * What keeps a schema from being the subject's next version, judged against the given versions.
   */
  Optional<String> violation(String subject, String schemaText, List<Version> against) {
    Schema schema = parse(schemaText);
    return compatibility(subject)
        .violation(schema, against.stream().map(v -> parse(v.schema())).toList());
  }

  List<String> subjects() {
    return List.copyOf(new TreeSet<>(state.versions().keySet()));
  }

  List<Version> versions(String subject) {
    StoreState current = state;
    List<Integer> versions = current.versions().get(subject);
    if (versions == null) {
      throw RegistryError.subjectNotFound(subject);
    }
    List<Version> found = new ArrayList<>();
    for (int i = 0; i < versions.size(); i++) {
      int id = versions.get(i);
      found.add(new Version(subject, i + 1, id, current.schemas().get(id - 1)));
    }
    return found;
  }

  /**
   * One version of a subject.
   *
   * @param version from 1, or -1 for the latest
   */
  Version version(String subject, int version) {
    List<Version> versions = versions(subject);
    int wanted = version == -1 ? versions.size() : version;
    if (wanted > versions.size()) {
      throw RegistryError.versionNotFound(wanted);
    }
    return versions.get(wanted - 1);
  }

  String schema(int id) {
    List<String> schemas = state.schemas();
    if (id < 1 || id > schemas.size()) {
      throw RegistryError.schemaNotFound(Integer.toString(id));
    }
    return schemas.get(id - 1);
  }

  /** Where a schema is a version; the id must exist. */
  List<Version> usesOf(int id) {
    String text = schema(id);
    List<Version> uses = new ArrayList<>();
    state
        .versions()
        .forEach(
            (subject, versions) -> {
              int index = versions.indexOf(id);
              if (index >= 0) {
                uses.add(new Version(subject, index + 1, id, text));
              }
            });
    return uses;
  }

  Compatibility compatibility() {
    return state.compatibility();
  }

  Optional<Compatibility> ownCompatibility(String subject) {
    return Optional.ofNullable(state.subjectCompatibility().get(subject));
  }

  private Compatibility compatibility(String subject) {
    return ownCompatibility(subject).orElse(state.compatibility());
  }

  synchronized void setCompatibility(Compatibility level) {
    replace(new StoreState(state.schemas(), state.versions(), level, state.subjectCompatibility()));
  }

  synchronized void setCompatibility(String subject, Compatibility level) {
    checkSubject(subject);
    Map<String, Compatibility> levels = new LinkedHashMap<>(state.subjectCompatibility());
    if (!levels.containsKey(subject) && levels.size() >= limits.subjectsMax()) {
      throw RegistryError.full("levels of %d subjects".formatted(limits.subjectsMax()));
    }
    levels.put(subject, level);
    replace(new StoreState(state.schemas(), state.versions(), state.compatibility(), levels));
  }

  private void replace(StoreState next) {
    try {
      file.save(next);
    } catch (IOException e) {
      throw RegistryError.storeFailed(
          "Expected to write the registry's file, but: %s. Nothing was changed.".formatted(e));
    }
    state = next;
  }

  private List<Integer> versionsOf(String subject) {
    List<Integer> versions = state.versions().get(subject);
    if (versions == null) {
      throw RegistryError.subjectNotFound(subject);
    }
    return versions;
  }

  private List<Schema> parsed(List<Integer> versions) {
    return versions.stream().map(id -> parse(state.schemas().get(id - 1))).toList();
  }

  private static void checkSubject(String subject) {
    if (subject.isBlank()
        || subject.length() > SUBJECT_LENGTH_MAX
        || subject.chars().anyMatch(Character::isISOControl)) {
      throw RegistryError.invalidSubject(subject);
    }
  }

  private static Schema parse(String text) {
    try {
      return new Schema.Parser().parse(text);
    } catch (AvroRuntimeException e) {
      throw RegistryError.invalidSchema(
          "Expected an Avro schema, but it does not parse: %s".formatted(e.getMessage()));
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
