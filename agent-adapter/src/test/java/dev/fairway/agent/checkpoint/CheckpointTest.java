package dev.fairway.agent.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.checkpoint.Resumption.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckpointTest {
  private static final LeaseCall CALL = LeaseCall.of("key/q").requestId("r.1").build();

  @TempDir Path root;

  @Test
  void shouldSendAsItIsWhatNothingChangedFor() throws IOException {
    // given
    Files.writeString(root.resolve("a.txt"), "one");
    Checkpoint checkpoint = checkpoint(CALL);
    FileCheckpointStore store = FileCheckpointStore.open(root.resolve("store"));
    store.save(checkpoint);

    // when
    Resumption resumed = store.resume("task-7", root).orElseThrow();

    // then
    assertThat(resumed.sendAsIs()).isTrue();
    assertThat(resumed.changed()).isEmpty();
    assertThat(resumed.unchanged()).containsExactly("a.txt", "gone.txt");
    assertThat(resumed.checkpoint()).isEqualTo(checkpoint);
    assertThat(resumed.checkpoint().next().call().requestId()).isEqualTo("r.1");
    assertThat(resumed.checkpoint().next().body()).asString().isEqualTo("{\"b\":1}");
  }

  @Test
  void shouldTellWhichFilesChangedAndHow() throws IOException {
    // given
    Files.writeString(root.resolve("a.txt"), "one");
    Files.writeString(root.resolve("b.txt"), "two");
    Files.writeString(root.resolve("c.txt"), "three");
    Checkpoint checkpoint =
        Checkpoint.of("task-7", "goal")
            .file(root, Path.of("a.txt"))
            .file(root, Path.of("b.txt"))
            .file(root, Path.of("./sub/../c.txt"))
            .file(root, Path.of("gone.txt"))
            .next(next(CALL))
            .build();

    // when
    Files.writeString(root.resolve("a.txt"), "One");
    Files.delete(root.resolve("b.txt"));
    Files.writeString(root.resolve("gone.txt"), "back");
    Resumption resumed = Resumption.of(checkpoint, root);

    // then
    assertThat(resumed.sendAsIs()).isFalse();
    assertThat(resumed.reason()).contains("3 of 4 files changed").contains("a.txt");
    assertThat(resumed.changed())
        .extracting(change -> change.before().path(), Resumption.Change::kind)
        .containsExactly(
            tuple("a.txt", Kind.MODIFIED),
            tuple("b.txt", Kind.DELETED),
            tuple("gone.txt", Kind.CREATED));
    assertThat(resumed.unchanged()).containsExactly("c.txt");
  }

  @Test
  void shouldNameFilesInWhosePlaceIsSomethingElse() throws IOException {
    // given
    for (String name : List.of("folder", "sub/b.txt", "circle", "nowhere", "same")) {
      Files.createDirectories(root.resolve(name).getParent());
      Files.writeString(root.resolve(name), name);
    }
    Checkpoint.Builder builder = Checkpoint.of("task-7", "goal").next(next(CALL));
    for (String name : List.of("folder", "sub/b.txt", "circle", "nowhere", "same")) {
      builder.file(root, Path.of(name));
    }
    Checkpoint checkpoint = builder.build();

    // when
    for (String name : List.of("folder", "sub/b.txt", "sub", "circle", "nowhere")) {
      Files.delete(root.resolve(name));
    }
    Files.createDirectory(root.resolve("folder"));
    Files.writeString(root.resolve("sub"), "a file now");
    Files.createSymbolicLink(root.resolve("circle"), Path.of("circle"));
    Files.createSymbolicLink(root.resolve("nowhere"), Path.of("gone"));
    Resumption resumed = Resumption.of(checkpoint, root);

    // then
    assertThat(resumed.changed())
        .extracting(change -> change.before().path(), Resumption.Change::kind)
        .containsExactly(
            tuple("folder", Kind.DELETED),
            tuple("sub/b.txt", Kind.DELETED),
            tuple("circle", Kind.DELETED),
            tuple("nowhere", Kind.DELETED));
    assertThat(resumed.unchanged()).containsExactly("same");
    assertThatThrownBy(() -> FileState.of(root, Path.of("folder")))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("to be a file");
  }

  /** Jackson's own bound for a text is 20 million characters, which base64 fills with 14 MiB. */
  @Test
  void shouldLoadTheLargestBodyAndTheLongestTextsThatItSaves() {
    // given
    byte[] body = new byte[NextCall.BODY_BYTES_MAX];
    Arrays.fill(body, (byte) 'x');
    Map<String, String> headers = Map.of("x-" + "a".repeat(998), "v".repeat(100_000));
    Checkpoint checkpoint =
        Checkpoint.of("task-7", "\u0001".repeat(Checkpoint.TEXT_CHARS_MAX))
            .next(NextCall.of(CALL, "POST", "/v1/messages", headers, body))
            .build();
    FileCheckpointStore store = FileCheckpointStore.open(root.resolve("store"));

    // when
    store.save(checkpoint);

    // then
    assertThat(store.load("task-7").orElseThrow().equals(checkpoint)).isTrue();
  }

  @Test
  void shouldRefuseAHeaderWhoseNameIsNone() {
    assertThatThrownBy(
            () -> NextCall.of(CALL, "POST", "/v1", Map.of("x".repeat(1_001), "v"), new byte[1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 1000 characters, but found one of 1001");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\0b", "a\ud800b", "\udc00"})
  void shouldRefuseAPathThatNoFileHas(String path) {
    assertThatThrownBy(() -> new FileState(path, null, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Expected a path below the root");
  }

  @Test
  void shouldHashWhatWasRead() throws IOException {
    // given
    Files.writeString(root.resolve("a.txt"), "one");

    // when
    FileState state = FileState.of("a.txt", Files.readAllBytes(root.resolve("a.txt")));

    // then
    assertThat(state).isEqualTo(FileState.of(root, Path.of("a.txt")));
  }

  /** Run with LC_ALL=C: a locale without this letter. */
  static final class Umlaut {
    public static void main(String[] args) {
      try {
        Resumption.of(
            Checkpoint.of("task-7", "goal").file(new FileState("\u00e4.txt", null, 0)).build(),
            Path.of(args[0]));
        System.out.println("resumed");
      } catch (UncheckedIOException e) {
        System.out.println("UncheckedIOException: " + e.getMessage());
      }
    }
  }

  @Test
  void shouldSayWhichNameTheLocaleHasNot() throws Exception {
    // given
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            Umlaut.class.getName(),
            root.toString());
    java.environment().put("LC_ALL", "C");

    // when
    Process process = java.redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

    // then: or the platform has one encoding for all names, whatever the locale
    assertThat(output).containsAnyOf("resumed", "such as LC_ALL=C.UTF-8");
    assertThat(output).doesNotContain("InvalidPathException");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Authorization",
        "proxy-authorization",
        "Set-Cookie",
        "x-api-key",
        "X-Goog-Api-Key",
        "ocp-apim-subscription-key",
        "openai-api-key",
        "x-amz-security-token",
        "x-auth-token",
        "x-fairway-token",
        "aws_secret_access_key"
      })
  void shouldHoldNoHeaderWithACredential(String name) {
    assertThatThrownBy(() -> NextCall.of(CALL, "POST", "/", Map.of(name, "sk-SECRET"), new byte[0]))
        .hasMessageContaining("header " + name)
        .hasMessageNotContaining("SECRET");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1beta/models/g:generateContent?key=SECRET",
        "/v1?a=b&api_key=SECRET",
        "/v1?%6Bey=SECRET",
        "/v1?X-Amz-Signature=SECRET",
        "/v1?access_token=SECRET#x",
        "https://me:SECRET@host/v1"
      })
  void shouldHoldNoPathWithACredential(String path) {
    assertThatThrownBy(() -> NextCall.of(CALL, "POST", path, new byte[0]))
        .hasMessageContaining("credentials")
        .hasMessageNotContaining("SECRET");
  }

  @Test
  void shouldHoldWhatIsNoCredential() {
    // given
    Map<String, String> headers =
        Map.of("idempotency-key", "k", "openai-organization", "o", "anthropic-version", "v");

    // when
    NextCall call =
        NextCall.of(CALL, "POST", "/v1/x@y?beta=true&page_token=3", headers, new byte[0]);

    // then
    assertThat(call.headers()).isEqualTo(headers);
    assertThat(call.path()).isEqualTo("/v1/x@y?beta=true&page_token=3");
  }

  @Test
  void shouldNotSendACallAsItIsWhoseDeadlineIsOver() throws IOException {
    // given
    Files.writeString(root.resolve("a.txt"), "one");
    LeaseCall late =
        LeaseCall.of("key/q")
            .requestId("r.1")
            .deadline(Instant.parse("2020-01-01T00:00:00Z"))
            .build();

    // when
    Resumption resumed = Resumption.of(checkpoint(late), root);

    // then
    assertThat(resumed.sendAsIs()).isFalse();
    assertThat(resumed.reason()).contains("2020-01-01");
  }

  @Test
  void shouldForgetWhatIsDeletedAndListTheOthers() {
    // given
    FileCheckpointStore store = FileCheckpointStore.open(root);
    store.save(Checkpoint.of("b", "goal").build());
    store.save(Checkpoint.of("a", "goal").build());

    // when
    store.delete("b");
    store.delete("never");

    // then
    assertThat(store.ids()).containsExactly("a");
    assertThat(store.load("b")).isEmpty();
  }

  @Test
  void shouldRefuseIdsThatLeaveTheFolderAndCallsWithCredentials() {
    // given
    FileCheckpointStore store = FileCheckpointStore.open(root);

    // when / then
    for (String id : List.of("", "../a", "a/b", ".a", "a b", "x".repeat(101))) {
      assertThatThrownBy(() -> store.load(id)).hasMessageContaining("checkpoint id");
    }
    assertThatThrownBy(
            () -> NextCall.of(CALL, "POST", "/", Map.of("Authorization", "Bearer sk"), new byte[0]))
        .hasMessageContaining("credentials")
        .hasMessageNotContaining("sk");
    assertThatThrownBy(() -> NextCall.of(LeaseCall.of("key/q").build(), "POST", "/", new byte[0]))
        .hasMessageContaining("request id");
    assertThatThrownBy(() -> new FileState("../secret", null, 0)).hasMessageContaining("below");
    assertThatThrownBy(() -> Checkpoint.of("a", "x".repeat(Checkpoint.TEXT_CHARS_MAX + 1)).build())
        .hasMessageContaining("a goal of at most");
  }

  @Test
  void shouldKeepTheOldOneWhereTheNewOneDoesNotFitTheDisk() {
    // given
    FileCheckpointStore.open(root).save(Checkpoint.of("a", "old").build());
    FileCheckpointStore full =
        FileCheckpointStore.open(
            root,
            new FileCheckpointStore.Disk() {
              @Override
              void force(java.nio.channels.FileChannel channel) throws IOException {
                throw new IOException("No space left on device");
              }
            });

    // when / then
    assertThatThrownBy(() -> full.save(Checkpoint.of("a", "new").build()))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("No space left")
        .hasMessageContaining("Don't begin the wait");
    assertThat(full.load("a").orElseThrow().goal()).isEqualTo("old");
  }

  private Checkpoint checkpoint(LeaseCall call) {
    return Checkpoint.of("task-7", "goal")
        .step("1 of 2")
        .file(root, Path.of("a.txt"))
        .file(root, Path.of("gone.txt"))
        .decision("this", "that")
        .next(next(call))
        .build();
  }

  private static NextCall next(LeaseCall call) {
    return NextCall.of(
        call,
        "POST",
        "/v1/messages",
        "{\"b\":1}".getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }
}
