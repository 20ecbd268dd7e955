package dev.fairway.cli.up;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.cli.CliException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {

  @TempDir Path parent;

  @Test
  void shouldGiveAFolderToOneAtATime() {
    Path path = parent.resolve("data");
    try (DataFolder first = DataFolder.open(path)) {
      assertThatThrownBy(() -> DataFolder.open(path))
          .isInstanceOf(CliException.class)
          .hasMessageContaining("another 'fairway up' runs on it")
          .hasMessageContaining("--data");
      assertThat(first.path()).isDirectory();
    }
    try (DataFolder again = DataFolder.open(path)) {
      assertThat(again.path()).isEqualTo(path);
    }
  }

  @Test
  void shouldSayThatAFolderCannotBeWritten() throws Exception {
    Path file = Files.writeString(parent.resolve("file"), "not a folder");

    assertThatThrownBy(() -> DataFolder.open(file))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("Expected a folder that can be written at " + file)
        .hasMessageContaining("--data");
  }

  @Test
  void shouldTellTheAddressesWhileItIsOpen() {
    Addresses addresses =
        new Addresses(
            "127.0.0.1:1",
            "http://127.0.0.1:2",
            "http://127.0.0.1:3",
            "http://127.0.0.1:4",
            "fairway.",
            ProcessHandle.current().pid());
    try (DataFolder data = DataFolder.open(parent)) {
      data.publish(addresses);

      assertThat(Addresses.read(parent)).contains(addresses);
    }
    assertThat(Addresses.read(parent)).isEmpty();
  }

  @Test
  void shouldNotBelieveTheAddressesOfAProcessThatIsGone() throws Exception {
    Process gone = new ProcessBuilder("true").start();
    gone.waitFor();
    new Addresses(
            "127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3", null, "fairway.", gone.pid())
        .write(parent);

    assertThat(Addresses.read(parent)).isEmpty();
  }
}
