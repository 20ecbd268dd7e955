package dev.fairway.cli.registry;

/** What a client is told when its request cannot be served; codes are Confluent's. */
final class RegistryError extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int status;
  private final int code;

  private RegistryError(int status, int code, String message) {
    super(message);
    this.status = status;
    this.code = code;
  }

  int status() {
    return status;
  }

  int code() {
    return code;
  }

  static RegistryError badRequest(String message) {
    return new RegistryError(400, 400, message);
  }

  static RegistryError noSuchPath(String path) {
    return new RegistryError(
        404, 404, "Expected a path of the schema registry's API, but found '%s'.".formatted(path));
  }

  static RegistryError methodNotAllowed(String method, String path) {
    return new RegistryError(405, 405, "Method %s is not served at '%s'.".formatted(method, path));
  }

  static RegistryError tooLarge(int bytesMax) {
    return new RegistryError(413, 413, "Expected a body of at most %d bytes.".formatted(bytesMax));
  }

  static RegistryError subjectNotFound(String subject) {
    return new RegistryError(404, 40401, "Subject '%s' not found.".formatted(subject));
  }

  static RegistryError versionNotFound(int version) {
    return new RegistryError(404, 40402, "Version %d not found.".formatted(version));
  }

  static RegistryError schemaNotFound(String which) {
    return new RegistryError(404, 40403, "Schema %s not found.".formatted(which));
  }

  static RegistryError noSubjectCompatibility(String subject) {
    return new RegistryError(
        404,
        40408,
        "Subject '%s' does not have subject-level compatibility configured.".formatted(subject));
  }

  static RegistryError incompatible(String message) {
    return new RegistryError(409, 409, message);
  }

  static RegistryError invalidSchema(String message) {
    return new RegistryError(422, 42201, message);
  }

  static RegistryError invalidVersion(String version) {
    return new RegistryError(
        422,
        42202,
        "The specified version '%s' is not a valid version id. Expected a number from 1 to 2147483647, or 'latest'."
            .formatted(version));
  }

  static RegistryError invalidCompatibility(String level) {
    return new RegistryError(
        422,
        42203,
        "Invalid compatibility level '%s'. Expected NONE, BACKWARD, FORWARD, FULL or one of the last three with _TRANSITIVE."
            .formatted(level));
  }

  static RegistryError full(String what) {
    return new RegistryError(
        422, 42205, "This registry is full: %s. Use a registry of its own.".formatted(what));
  }

  static RegistryError invalidSubject(String subject) {
    return new RegistryError(
        422,
        42208,
        "Expected a subject of 1 to %d printable characters, but found '%s'."
            .formatted(SchemaStore.SUBJECT_LENGTH_MAX, subject));
  }

  static RegistryError storeFailed(String message) {
    return new RegistryError(500, 50001, message);
  }
}
