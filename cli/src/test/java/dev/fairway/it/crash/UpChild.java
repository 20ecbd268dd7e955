package dev.fairway.it.crash;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.cli.Fairway;
import dev.fairway.cli.up.Addresses;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * {@code fairway up} as a process of its own, started again and again on the same folder. Its
 * messages are kept in {@code up-N.log} next to the data. Used by one thread.
 */
final class UpChild implements AutoCloseable {
  private static final int READY_S_MAX = 150;
  private static final int STOP_S_MAX = 60;
  private static final int KILLED = 128 + 9;

  private final Path folder;
  private final Path config;
  private final List<Life> lives = new ArrayList<>();

  private Process process;
  private Path log;
  private long startedAtMs;
  private Long readyAtMs;
  private CompletableFuture<String> ready;
  private Addresses addresses;

  /**
   * Starts nothing yet.
   *
   * @param folder where data and logs go
   * @param config the quotas
   */
  UpChild(Path folder, Path config) {
    this.folder = folder;
    this.config = config;
  }

  /** Starts the process and does not wait for it. */
  void launch() throws IOException {
    log = folder.resolve("up-" + (lives.size() + 1) + ".log");
    startedAtMs = System.currentTimeMillis();
    readyAtMs = null;
    process =
        command("up", "--config", config.toString(), "--data", folder.resolve("data").toString())
            .redirectError(log.toFile())
            .start();
    ready = new CompletableFuture<>();
    CompletableFuture<String> told = ready;
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    Thread reader = new Thread(() -> read(out, told), "up-out");
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Waits until it says that it decides.
   *
   * @throws IllegalStateException if it ends before, does not get that far, or has moved to other
   *     ports than last time
   */
  void awaitReady() throws InterruptedException, IOException {
    try {
      ready.get(READY_S_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException(
          "Expected up to get ready within " + READY_S_MAX + " s, but: " + e + "\n" + said(), e);
    }
    readyAtMs = System.currentTimeMillis();
    Addresses now =
        Addresses.read(folder.resolve("data"))
            .orElseThrow(() -> new IllegalStateException("Expected up to publish its addresses"));
    if (addresses != null
        && !(now.bootstrap().equals(addresses.bootstrap())
            && now.registry().equals(addresses.registry())
            && now.coordinator().equals(addresses.coordinator()))) {
      throw new IllegalStateException(
          "Expected up to come back where it was, at "
              + addresses
              + ", but it is at "
              + now
              + ": whoever waits for it is lost");
    }
    addresses = now;
  }

  /** SIGKILL. Returns once the process is gone. */
  void kill() throws InterruptedException, IOException {
    if (!process.isAlive()) {
      throw new IllegalStateException(
          "Expected up to live until it is killed, but it ended with "
              + process.exitValue()
              + "\n"
              + said());
    }
    long atMs = System.currentTimeMillis();
    int code = process.destroyForcibly().waitFor();
    if (code != KILLED) {
      throw new IllegalStateException(
          "Expected up to die of SIGKILL, but it ended with " + code + "\n" + said());
    }
    lives.add(new Life(startedAtMs, readyAtMs, atMs));
  }

  /**
   * SIGTERM, unless it has ended already.
   *
   * @throws IllegalStateException if it does not stop cleanly
   */
  void stop() throws InterruptedException, IOException {
    if (process == null || !process.isAlive()) {
      return;
    }
    process.destroy();
    boolean ended = process.waitFor(STOP_S_MAX, TimeUnit.SECONDS);
    if (!ended || process.exitValue() != 0) {
      throw new IllegalStateException(
          "Expected up to stop with 0, but "
              + (ended ? "it stopped with " + process.exitValue() : "it did not stop")
              + "\n"
              + said());
    }
  }

  /** Where it is reached; it stays there. */
  Addresses addresses() {
    return addresses;
  }

  /** Every process so far that has ended, and the one that runs, as if it ended now. */
  List<Life> lives() {
    List<Life> all = new ArrayList<>(lives);
    if (process != null && process.isAlive()) {
      all.add(new Life(startedAtMs, readyAtMs, System.currentTimeMillis()));
    }
    return List.copyOf(all);
  }

  /** Runs {@code replay --verify} against the running process and gives what it reports. */
  VerifyResult verify() throws IOException, InterruptedException {
    Path report = folder.resolve("verify.json");
    Path said = folder.resolve("verify.log");
    int code =
        command(
                "replay",
                "--verify",
                "--bootstrap",
                addresses.bootstrap(),
                "--registry",
                addresses.registry(),
                "--json",
                report.toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start()
            .waitFor();
    if (!Files.exists(report)) {
      throw new IllegalStateException(
          "Expected a report, but replay --verify ended with "
              + code
              + ": "
              + Files.readString(said));
    }
    return new VerifyResult(code, new ObjectMapper().readTree(report.toFile()).toString());
  }

  /** What {@code replay --verify} said: exit code and JSON. */
  record VerifyResult(int exitCode, String report) {}

  @Override
  public void close() throws InterruptedException {
    if (process != null && process.isAlive()) {
      process.destroyForcibly().waitFor();
    }
  }

  private String said() throws IOException {
    List<String> lines = Files.readAllLines(log);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
  }

  private static void read(BufferedReader out, CompletableFuture<String> ready) {
    try (out) {
      String line = out.readLine();
      while (line != null) {
        if (line.startsWith("ready ")) {
          ready.complete(line);
        }
        line = out.readLine();
      }
      ready.completeExceptionally(new IOException("it ended"));
    } catch (IOException e) {
      ready.completeExceptionally(e);
    }
  }

  private static ProcessBuilder command(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Short lives: what the optimizing compiler would give them, they do not live to see.
    command.addAll(
        List.of("-Xmx768m", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Fairway.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command);
  }
}
