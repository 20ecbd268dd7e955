package dev.fairway.agent.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.fairway.agent.LeaseCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.lifecycle.BeforeProperty;

class FileCheckpointStorePropertyTest {
  private Path folder;

  /** The process dies. */
  private static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Dies after so many bytes and steps. */
  private static final class CrashingDisk extends FileCheckpointStore.Disk {
    private int bytesLeft;
    private int stepsLeft;

    CrashingDisk(int bytesLeft, int stepsLeft) {
      this.bytesLeft = bytesLeft;
      this.stepsLeft = stepsLeft;
    }

    @Override
    void write(FileChannel channel, ByteBuffer bytes) throws IOException {
      int written = Math.min(bytesLeft, bytes.remaining());
      super.write(channel, bytes.slice(bytes.position(), written));
      bytesLeft -= written;
      if (written < bytes.remaining()) {
        throw new Crash();
      }
    }

    @Override
    void force(FileChannel channel) throws IOException {
      step();
      super.force(channel);
    }

    @Override
    void rename(Path from, Path to) throws IOException {
      step();
      super.rename(from, to);
    }

    private void step() {
      if (stepsLeft-- == 0) {
        throw new Crash();
      }
    }
  }

  @BeforeProperty
  void makeFolder() throws IOException {
    folder = Files.createTempDirectory("checkpoints");
  }

  @AfterProperty
  void deleteFolder() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      files.forEach(
          file -> {
            try {
              Files.delete(file);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    }
    Files.delete(folder);
  }

  @Property(tries = 200)
  void shouldReadWhatWasStored(@ForAll("checkpoints") Checkpoint checkpoint) {
    // given
    FileCheckpointStore store = FileCheckpointStore.open(folder);

    // when
    store.save(checkpoint);

    // then
    assertThat(store.load(checkpoint.id())).contains(checkpoint);
    assertThat(FileCheckpointStore.open(folder).load(checkpoint.id())).contains(checkpoint);
  }

  @Property(tries = 300)
  void shouldHoldTheOldOrTheNewOneWhereverItDies(
      @ForAll("checkpoints") Checkpoint before,
      @ForAll("checkpoints") Checkpoint after,
      @ForAll @IntRange(min = 0, max = 1_500) int bytes,
      @ForAll @IntRange(min = 0, max = 3) int steps) {
    // given
    FileCheckpointStore.open(folder).save(before);
    FileCheckpointStore dying = FileCheckpointStore.open(folder, new CrashingDisk(bytes, steps));

    // when
    Throwable death = catchThrowable(() -> dying.save(after));

    // then: at the next start
    FileCheckpointStore next = FileCheckpointStore.open(folder);
    if (death == null) {
      assertThat(next.load(after.id())).contains(after);
    } else {
      assertThat(death).isInstanceOf(Crash.class);
      assertThat(next.load(after.id())).get().isIn(before, after);
    }
    assertThat(next.ids()).contains(after.id());
    assertThat(folder).isDirectoryNotContaining("glob:**.unfinished");
  }

  @Property(tries = 300)
  void shouldSayThatAFileIsBrokenAndNeverReadAnotherCheckpointFromIt(
      @ForAll("checkpoints") Checkpoint checkpoint,
      @ForAll @IntRange(min = 0, max = 1_000_000) int where,
      @ForAll boolean cut)
      throws IOException {
    // given
    FileCheckpointStore store = FileCheckpointStore.open(folder);
    store.save(checkpoint);
    Path file = folder.resolve(checkpoint.id() + ".checkpoint");
    byte[] whole = Files.readAllBytes(file);
    int at = where % whole.length;
    byte[] broken = java.util.Arrays.copyOf(whole, cut ? at : whole.length);
    if (!cut) {
      broken[at] ^= 1;
    }

    // when
    Files.write(file, broken);

    // then
    assertThatThrownBy(() -> store.load(checkpoint.id()))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("Expected a whole checkpoint")
        .hasMessageContaining(file.toString());
  }

  @Provide
  Arbitrary<Checkpoint> checkpoints() {
    Arbitrary<String> texts = Arbitraries.strings().ofMaxLength(50);
    Arbitrary<FileState> files =
        Combinators.combine(
                Arbitraries.strings().alpha().ofMinLength(1).ofMaxLength(10),
                Arbitraries.strings().withChars("0123456789abcdef").ofLength(64).injectNull(0.2),
                Arbitraries.longs().between(0, Long.MAX_VALUE))
            .as(
                (path, hash, bytes) ->
                    new FileState("src/" + path, hash, hash == null ? 0 : bytes));
    Arbitrary<NextCall> calls =
        Combinators.combine(
                texts,
                Arbitraries.bytes().array(byte[].class).ofMaxSize(200),
                Arbitraries.longs().between(0, 1_000_000),
                Arbitraries.of(true, false))
            .as(FileCheckpointStorePropertyTest::call);
    return Combinators.combine(
            texts,
            texts,
            files.list().uniqueElements(FileState::path).ofMaxSize(4),
            Combinators.combine(texts, texts).as(Checkpoint.Choice::new).list().ofMaxSize(4),
            calls.injectNull(0.2),
            Arbitraries.longs().between(0, 4_102_444_800_000L))
        .as(
            (goal, step, states, choices, next, at) ->
                new Checkpoint(
                    "task-7", goal, step, states, choices, next, Instant.ofEpochMilli(at)));
  }

  private static NextCall call(String text, byte[] body, long number, boolean full) {
    LeaseCall.Builder call = LeaseCall.of("key/q").requestId("r." + number).estimateMethod(text);
    if (full) {
      call.member("m")
          .taskId("t")
          .inputTokens(number)
          .maxOutputTokens(number)
          .cachedTokens(number, Instant.ofEpochMilli(number))
          .retryOf("r.0")
          .repeatFailures(3)
          .unblocks(2)
          .tenant("x")
          .deadline(Instant.ofEpochMilli(number));
    }
    return NextCall.of(call.build(), "POST", "/v1/messages", Map.of("x-note", text), body);
  }
}
