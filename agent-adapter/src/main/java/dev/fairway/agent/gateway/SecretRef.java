package dev.fairway.agent.gateway;

import dev.fairway.schemas.service.FileTrouble;
import dev.fairway.schemas.service.ShownText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Where a secret is kept: exactly one of an environment variable and a file. The secret itself is
 * in no record, log or message.
 *
 * @param env name of an environment variable, or null
 * @param file path of a file that holds the secret alone, or null
 */
public record SecretRef(String env, Path file) {
  private static final int BYTES_MAX = 16 * 1024;
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /** What is taken for a name and not for a secret that somebody wrote in its place. */
  private static final Pattern USUAL_NAME = Pattern.compile("[A-Z_][A-Z0-9_]*");

  /** A path of that many characters without a folder is no secret. */
  private static final int BARE_FILE_CHARS_MAX = 20;

  /** Checks that one is given. */
  public SecretRef {
    if (env != null && !NAME.matcher(env).matches()) {
      throw new IllegalArgumentException(
          "Expected the name of an environment variable such as ANTHROPIC_API_KEY, but found"
              + " something else, which is not shown. Put the secret into a variable or a file, and"
              + " name that.");
    }
    if ((env == null) == (file == null)) {
      throw new IllegalArgumentException(
          "Expected a secret as env: NAME or file: PATH, but found "
              + (env == null ? "neither" : "both")
              + ".");
    }
  }

  /** A secret in an environment variable. */
  public static SecretRef ofEnv(String name) {
    return new SecretRef(name, null);
  }

  /** A secret in a file. */
  public static SecretRef ofFile(Path file) {
    return new SecretRef(null, file);
  }

  /**
   * The secret, without surrounding blanks.
   *
   * @param environment the process's environment
   * @throws IllegalArgumentException if it is absent, empty, or nothing for a header; the message
   *     does not hold it
   */
  String resolve(Map<String, String> environment) {
    String secret = env != null ? environment.get(env) : read();
    if (secret == null || secret.isBlank()) {
      throw new IllegalArgumentException(
          "Expected a secret in " + this + ", but found none. Set it, or name another place.");
    }
    secret = secret.strip();
    if (!secret.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new IllegalArgumentException(
          "Expected a secret of one word of visible ASCII characters in "
              + this
              + ", but found others.");
    }
    return secret;
  }

  private String read() {
    try {
      if (Files.isDirectory(file)) {
        throw new IllegalArgumentException(
            "Expected a secret in " + this + ", but that is a folder. Name a file in it.");
      }
      if (Files.size(file) > BYTES_MAX) {
        throw new IllegalArgumentException(
            "Expected at most " + BYTES_MAX + " bytes in " + this + ", but found more.");
      }
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "Expected a readable secret in "
              + this
              + ", but: "
              + FileTrouble.of(e)
              + ". Name another place.");
    }
  }

  /** The place; not if what stands there may be the secret itself. */
  @Override
  public String toString() {
    if (env != null) {
      return USUAL_NAME.matcher(env).matches() && ShownText.isHarmless(env)
          ? "environment variable " + env
          : "an environment variable whose name is not shown, because it is not made of words in"
              + " capitals and may be the secret itself";
    }
    String path = file.toString();
    boolean usual = file.getNameCount() > 1 || path.length() <= BARE_FILE_CHARS_MAX;
    return (usual && ShownText.isHarmless(path)) || Files.exists(file)
        ? "file " + path
        : "a file whose name is not shown, because it may be the secret itself";
  }
}
