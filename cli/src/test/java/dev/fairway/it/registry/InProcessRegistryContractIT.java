package dev.fairway.it.registry;

import dev.fairway.cli.registry.InProcessSchemaRegistry;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract, held by the registry that {@code fairway up} brings. */
class InProcessRegistryContractIT extends RegistryContract {

  private static InProcessSchemaRegistry registry;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    registry = InProcessSchemaRegistry.start(0, folder);
  }

  @AfterAll
  static void stop() {
    registry.close();
  }

  @Override
  String url() {
    return registry.url();
  }
}
