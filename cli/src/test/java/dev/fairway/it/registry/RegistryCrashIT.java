package dev.fairway.it.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.cli.registry.InProcessSchemaRegistry;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An id that was given out is the same schema's after the process was killed, whenever that was.
 */
class RegistryCrashIT {

  private static final int ROUNDS = 3;

  /** The process that is killed: registers one schema after the other, and prints what it got. */
  static final class Victim {

    private Victim() {}

    public static void main(String[] args) throws IOException {
      InProcessSchemaRegistry registry = InProcessSchemaRegistry.start(0, Path.of(args[0]));
      HttpSchemaRegistry client = new HttpSchemaRegistry(registry.url());
      for (int i = 0; i < 5_000; i++) {
        String name = args[1] + i;
        int id = client.register(name, schema(name));
        System.out.println(name + " " + id);
      }
    }
  }

  private static Schema schema(String name) {
    return Schema.createFixed(name, null, "n", 4);
  }

  @Test
  void shouldKeepEveryIdThatWasGivenOut(@TempDir Path folder) throws Exception {
    // given
    long seed = 7;
    Random random = new Random(seed);
    Map<String, Integer> given = new LinkedHashMap<>();

    // when: killed after some tens of answers, at whatever it is doing then
    for (int round = 0; round < ROUNDS; round++) {
      runAndKill(folder, "R" + round + "x", 20 + random.nextInt(40), given);
    }

    // then
    try (InProcessSchemaRegistry registry = InProcessSchemaRegistry.start(0, folder)) {
      HttpSchemaRegistry client = new HttpSchemaRegistry(registry.url());
      assertThat(given).as("seed %d", seed).hasSizeGreaterThan(ROUNDS * 20);
      given.forEach(
          (name, id) -> {
            assertThat(client.byId(id)).isEqualTo(schema(name));
            assertThat(client.idOf(name, schema(name))).isEqualTo(id);
          });
      assertThat(given.values()).doesNotHaveDuplicates();
    }
  }

  private static void runAndKill(
      Path folder, String prefix, int answers, Map<String, Integer> given) throws Exception {
    Process victim =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                folder.toString(),
                prefix)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out = victim.inputReader(StandardCharsets.UTF_8)) {
      int read = 0;
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.matches(prefix + "\\d+ \\d+")) {
          String[] words = line.split(" ");
          given.put(words[0], Integer.parseInt(words[1]));
          read++;
        }
        if (read == answers) {
          // Through the handle: Process itself would close the output that is still to be read.
          victim.toHandle().destroyForcibly();
        }
      }
      assertThat(read).isGreaterThanOrEqualTo(answers);
    } finally {
      victim.destroyForcibly().waitFor();
    }
  }
}
