package dev.fairway.it;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Programs that others wrote, for tests against them. Where one is missing the calling test is
 * skipped with the reason, never passed.
 */
public final class Peers {

  /** Debian's Python: the packages stand there, not in whatever comes first on the path. */
  private static final String PYTHON = "/usr/bin/python3";

  private static final Path RESOURCES = Path.of("src/test/resources");
  private static final Path SOURCES = RESOURCES.resolve("peers");
  private static final Path TARGET = Path.of("target");
  private static final Duration QUICK = Duration.ofSeconds(30);
  private static final Duration INSTALL = Duration.ofMinutes(5);
  private static final Map<Path, Path> PREPARED = new HashMap<>();
  private static final int OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

  private Peers() {}

  /** What a program printed. */
  public record Result(int exitCode, String out, String err) {

    /** The output, if the program ended well. */
    public String outOrThrow() {
      if (exitCode != 0) {
        throw new AssertionError("Exit code %d\n%s\n%s".formatted(exitCode, out, err));
      }
      return out;
    }
  }

  /** Runs a script of {@code src/test/resources/peers} in Python with confluent_kafka and avro. */
  public static Result python(String script, String input, Duration timeout) {
    return python(SOURCES.resolve(script), List.of(), input, timeout);
  }

  /** Runs any script in Python with confluent_kafka and avro. */
  public static Result python(Path script, List<String> arguments, String input, Duration timeout) {
    return run(pythonCommand(script, arguments), Path.of("."), input, timeout);
  }

  /**
   * Starts a script in Python with confluent_kafka and avro, which the caller ends.
   *
   * @param environment variables beside those of this process
   * @param log gets all that it prints
   */
  public static Process startPython(
      Path script, List<String> arguments, Map<String, String> environment, Path log) {
    try {
      ProcessBuilder program =
          new ProcessBuilder(pythonCommand(script, arguments))
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      program.environment().putAll(environment);
      return program.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> pythonCommand(Path script, List<String> arguments) {
    requireRuns(
        "Debian's packages python3-confluent-kafka and python3-avro",
        List.of(PYTHON, "-c", "import avro, requests, confluent_kafka.avro"));
    // -B: no compiled files beside the sources.
    List<String> command = new ArrayList<>(List.of(PYTHON, "-B", script.toString()));
    command.addAll(arguments);
    return command;
  }

  /**
   * Runs a script of an npm project under {@code src/test/resources/peers}, installed first if it
   * is not.
   *
   * @param project folder with a package.json of exact versions
   * @param script file in that folder
   */
  public static Result node(String project, String script, String input, Duration timeout) {
    return node(SOURCES.resolve(project), script, List.of(), input, timeout);
  }

  /**
   * Runs a script of any npm project, installed first if it is not, and built if it has a build
   * script. It runs in a copy of the folder, so arguments name files by absolute paths.
   *
   * @param project folder with a package.json of exact versions
   * @param script file in that folder
   */
  public static Result node(
      Path project, String script, List<String> arguments, String input, Duration timeout) {
    return node(project, script, arguments, Map.of(), input, timeout);
  }

  /** The same, with variables beside those of this process. */
  public static Result node(
      Path project,
      String script,
      List<String> arguments,
      Map<String, String> environment,
      String input,
      Duration timeout) {
    List<String> command = new ArrayList<>(List.of("node", script));
    command.addAll(arguments);
    return run(command, npmProject(project), environment, input, timeout);
  }

  /**
   * A copy of an npm project under {@code target}, with its packages installed and its sources
   * built, once in this JVM. Packages stay until its package.json changes.
   */
  public static Path npmProject(String project) {
    return npmProject(SOURCES.resolve(project));
  }

  private static synchronized Path npmProject(Path project) {
    Path ready = PREPARED.get(project);
    if (ready != null) {
      return ready;
    }
    requireRuns("Node.js", List.of("node", "--version"));
    requireRuns("npm", List.of("npm", "--version"));
    try {
      String name = project.getParent().getFileName() + "-" + project.getFileName();
      Path folder = Files.createDirectories(TARGET.resolve("npm").resolve(name));
      try (Stream<Path> files = Files.list(project)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          Files.copy(file, folder.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
        }
      }
      String wanted = Files.readString(folder.resolve("package.json"));
      Path installed = folder.resolve("installed.json");
      if (Files.notExists(installed) || !Files.readString(installed).equals(wanted)) {
        Result result =
            run(
                List.of(
                    "npm",
                    "install",
                    "--no-package-lock",
                    "--no-audit",
                    "--no-fund",
                    "--ignore-scripts",
                    "--prefer-offline"),
                folder,
                "",
                INSTALL);
        if (result.exitCode() != 0) {
          abort("npm cannot install %s: %s".formatted(project, result.err()));
        }
        Files.writeString(installed, wanted);
      }
      run(List.of("npm", "run", "--if-present", "--silent", "build"), folder, "", INSTALL)
          .outOrThrow();
      PREPARED.put(project, folder);
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Skips the calling test, with the reason, where a program does not run. */
  public static void requireRuns(String what, List<String> command) {
    Result result;
    try {
      result = run(command, Path.of("."), "", QUICK);
    } catch (UncheckedIOException e) {
      abort("This test needs %s: %s".formatted(what, e.getMessage()));
      return;
    }
    if (result.exitCode() != 0) {
      abort("This test needs %s: %s".formatted(what, result.err().strip()));
    }
  }

  /** Runs a program to its end; it is killed, and an error thrown, if that takes too long. */
  public static Result run(List<String> command, Path folder, String input, Duration timeout) {
    return run(command, folder, Map.of(), input, timeout);
  }

  private static Result run(
      List<String> command,
      Path folder,
      Map<String, String> environment,
      String input,
      Duration timeout) {
    Process process = null;
    try {
      Path out = Files.createTempFile("peer", ".out");
      Path err = Files.createTempFile("peer", ".err");
      Path in = Files.createTempFile("peer", ".in");
      try {
        Files.writeString(in, input);
        ProcessBuilder program =
            new ProcessBuilder(new ArrayList<>(command))
                .directory(folder.toFile())
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        program.environment().putAll(environment);
        process = program.start();
        if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new AssertionError(
              "%s did not end within %s\n%s\n%s".formatted(command, timeout, head(out), head(err)));
        }
        return new Result(process.exitValue(), head(out), head(err));
      } finally {
        if (process != null) {
          process.descendants().forEach(ProcessHandle::destroyForcibly);
          process.destroyForcibly();
        }
        for (Path file : List.of(out, err, in)) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  private static String head(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return new String(in.readNBytes(OUTPUT_BYTES_MAX), StandardCharsets.UTF_8);
    }
  }
}
