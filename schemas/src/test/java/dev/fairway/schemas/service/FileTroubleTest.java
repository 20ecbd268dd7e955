package dev.fairway.schemas.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTroubleTest {

  @TempDir private Path folder;

  @Test
  void shouldSayWhatIsWrongInWords() throws IOException {
    // given
    Path file = Files.write(folder.resolve("file"), new byte[] {(byte) 0xff});

    // when / then
    assertThat(troubleOf(() -> Files.readString(folder.resolve("nosuch"))))
        .isEqualTo("there is no such file or folder");
    assertThat(troubleOf(() -> Files.createDirectories(file)))
        .isEqualTo("a file stands where a folder is needed");
    assertThat(troubleOf(() -> Files.writeString(file.resolve("x"), "")))
        .isEqualTo("a file stands where a folder is needed");
    assertThat(troubleOf(() -> Files.readString(folder))).isEqualTo("it is a folder");
    assertThat(troubleOf(() -> Files.writeString(folder, ""))).isEqualTo("it is a folder");
    assertThat(troubleOf(() -> Files.readString(file))).isEqualTo("it is not UTF-8 text");
  }

  @Test
  void shouldKeepOtherWordsWithoutTheirFullStop() {
    assertThat(FileTrouble.of(new IOException("No space left on device.")))
        .isEqualTo("No space left on device");
    assertThat(FileTrouble.of(new IOException()))
        .isEqualTo("the system gave no reason (IOException)");
  }

  private static String troubleOf(ThrowingCallable action) {
    return FileTrouble.of(catchThrowableOfType(IOException.class, action));
  }
}
