package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.OptionSpec;

class FairwayTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir Path folder;

  private int run(String... args) {
    return Fairway.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
  }

  @Test
  void shouldMissAGatewaysKeyBeforeAnythingStarts() throws Exception {
    // given
    Path config =
        Files.writeString(
            folder.resolve("fairway.yaml"),
            """
            quotas:
              - id: ant/sonnet
                provider: anthropic
                models: ["claude-*"]
                limits: {requests_per_minute: 60}
            gateway:
              upstreams:
                anthropic: {provider: anthropic, key: {env: FAIRWAY_TEST_NO_SUCH_KEY}}
            """);
    Path data = folder.resolve("data");

    // when
    int code = run("up", "--config", config.toString(), "--data", data.toString());

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("fairway: The gateway cannot start. ")
        .contains("environment variable FAIRWAY_TEST_NO_SUCH_KEY");
    assertThat(data).doesNotExist();
  }

  @Test
  void shouldMissARegistryThatIsGivenBeforeAnythingStarts() {
    // given: nothing listens on port 1
    Path data = folder.resolve("data");

    // when
    int code = run("up", "--registry", "http://127.0.0.1:1", "--data", data.toString());

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("fairway: Expected an answer from the schema registry within ")
        .contains("http://127.0.0.1:1", "--registry")
        .doesNotContain("starting Kafka");
    assertThat(data).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo --html DIR/no/x.html",
        "demo --json DIR/no/x.json",
        "demo --html DIR",
        "demo emulator --ledger DIR/no/calls.jsonl",
        "simulate --json DIR/no/x.json",
        "simulate --png DIR/no/x.png",
        "simulate --html DIR/no/x.html",
        "replay --bootstrap 127.0.0.1:1 --export DIR/no/journal.jsonl",
        "replay --verify --bootstrap 127.0.0.1:1 --json DIR/no/x.json",
        "dry-run DIR/no.jsonl --json DIR/no/x.json",
        "explain DIR/no.json --json DIR/no/x.json",
        "status --json DIR/no/x.json"
      })
  void shouldCheckWhereTheResultGoesBeforeTheWorkBegins(String line) {
    // when
    int code = run(line.replace("DIR", folder.toString()).split(" "));

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("fairway: --")
        .contains(": expected a file ", folder.toString(), "Name another file.");
  }

  @Test
  void shouldCheckEveryOptionThatNamesAFileToWrite() {
    assertThat(everyOption(Fairway.commandLine()))
        .filteredOn(
            option ->
                option.paramLabel().startsWith("FILE")
                    && option.description()[0].matches("(Write|Append|Where) .*"))
        .isNotEmpty()
        .allSatisfy(
            option ->
                assertThat(option.converters())
                    .as(option.longestName())
                    .hasAtLeastOneElementOfType(ITypeConverter.class)
                    .allMatch(
                        converter ->
                            converter instanceof OutputFileConverter
                                || converter instanceof OutputTargetConverter));
  }

  private static List<OptionSpec> everyOption(CommandLine command) {
    List<OptionSpec> options = new ArrayList<>(command.getCommandSpec().options());
    command.getSubcommands().values().forEach(sub -> options.addAll(everyOption(sub)));
    return options;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status --bootstrap h:1 --registry nonsense",
        "up --registry ftp://h",
        "replay --verify --bootstrap h:1 --registry h:8081"
      })
  void shouldNameTheOptionOfAMalformedRegistry(String line) {
    // when
    int code = run(line.split(" "));

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString())
        .contains("--registry", "expected a URL such as http://127.0.0.1:8081")
        .doesNotContain("..", "unexpectedly");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonsense", "127.0.0.1:8090", "ftp://h", "http://"})
  void shouldNameTheOptionOfAMalformedCoordinator(String url) {
    // when
    int code = run("status", "--coordinator", url);

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString())
        .contains(
            "--coordinator", "expected a URL such as http://127.0.0.1:8090, but found '" + url);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "quota apply nosuch.yaml",
        "up --config nosuch.yaml --data DIR/data",
        "demo --trace DIR",
        "explain nosuch.json",
        "replay --verify --journal nosuch.jsonl",
        "replay --verify --journal DIR",
        "dry-run DIR",
        "up --data FILE"
      })
  void shouldSayInWordsWhatIsWrongWithAFile(String line) throws Exception {
    // given
    Path file = Files.writeString(folder.resolve("file"), "");

    // when
    int code =
        run(line.replace("DIR", folder.toString()).replace("FILE", file.toString()).split(" "));

    // then
    assertThat(code).isNotZero();
    assertThat(err.toString()).startsWith("fairway: ").doesNotContain("Exception", "..");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "statsu",
        "quota",
        "quota aply f.yaml",
        "quota apply",
        "agent add",
        "agent add a/b",
        "agent add a --reply-topic shared",
        "dead-letters redrive",
        "dead-letters redrive --all",
        "dead-letters redrive 0:1 --all --reason MALFORMED",
        "why",
        "why r1 --since soon",
        "status --no-such-option",
        "leases --limit many",
        "why r1 --limit 0",
        "up --port 70000",
        "up --provider anthropic",
        "up --key-env SOME_KEY",
        "up --provider nobody --key-env SOME_KEY",
        "up --provider anthropic --key-env not-a-name",
        "up --provider anthropic --key-env SOME_KEY --config fairway.yaml",
        "up --registry-port -1",
        "up --status-port x",
        "demo emulator --port 65536",
        "status --watch --period 0s",
        "queue --watch --period 25h",
        "dead-letters redrive abc",
        "dead-letters redrive 0:1 1",
        "dead-letters redrive --all --reason NOPE",
        "dead-letters list --reason NOPE"
      })
  void shouldEndWithTwoOnWrongUsageAndSayWhatToDo(String line) {
    int code = run(line.isEmpty() ? new String[0] : line.split(" "));

    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).startsWith("fairway: ").contains("--help").doesNotContain("\tat ");
    assertThat(out.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status",
        "leases",
        "queue",
        "quota list",
        "quota get q",
        "quota pause q",
        "agent list",
        "dead-letters list",
        "why r1"
      })
  void shouldEndWithOneAndSayWhatToDoWhereNothingRuns(String line) {
    List<String> args = new ArrayList<>(List.of(line.split(" ")));
    args.add("--data");
    args.add(folder.toString());

    int code = run(args.toArray(new String[0]));

    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("fairway: Expected a running 'fairway up' on " + folder)
        .contains("--bootstrap")
        .doesNotContain("\tat ");
  }

  @Test
  void shouldSayThatAFileToApplyDefinesNothing() throws Exception {
    Path file = folder.resolve("no-quotas.yaml");
    Files.writeString(file, "kafka: {linger.ms: 0}\n", StandardCharsets.UTF_8);

    int code = run("quota", "apply", file.toString(), "--data", folder.toString());

    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .contains("Expected a section 'quotas'")
        .contains("Write 'quotas:'", "nothing was");
  }

  @Test
  void shouldSayEveryErrorOfAConfigurationWithItsLine() throws Exception {
    Path file = folder.resolve("bad.yaml");
    Files.writeString(
        file,
        "quotas:\n  - id: q\n    limts: {}\n  - id: r\n    limits: {requests_per_minute: -1}\n",
        StandardCharsets.UTF_8);

    int code = run("quota", "apply", file.toString(), "--data", folder.toString());

    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .contains(file + ":3: quotas[0].limts: unknown field")
        .contains(file + ":5: quotas[1].limits.requests_per_minute: expected 1 to")
        .doesNotContain("\tat ");
  }

  @Test
  void shouldAskForTheRegistryThatGoesWithACluster() {
    assertThat(run("quota", "list", "--bootstrap", "127.0.0.1:1")).isEqualTo(1);
    assertThat(err.toString()).contains("Expected --registry URL along with --bootstrap");
  }

  @Test
  void shouldPrintTheVersion() {
    assertThat(run("--version")).isZero();
    assertThat(out.toString()).matches("fairway \\d+\\.\\d+\\.\\d+.*\\R");
  }

  @TestFactory
  List<DynamicTest> shouldHelpWithAnExample() {
    List<DynamicTest> tests = new ArrayList<>();
    collect(Fairway.commandLine(), tests);
    return tests;
  }

  @Test
  void shouldHelpInWholeSentences() {
    // The list of commands shows the first paragraph alone: none may end in the middle of a
    // sentence.
    List<String> paragraphs = new ArrayList<>();
    paragraphs(Fairway.commandLine(), paragraphs);

    assertThat(paragraphs)
        .hasSizeGreaterThan(50)
        .allSatisfy(text -> assertThat(text).matches("(?s)['A-Z].*[.]"));
  }

  private static void paragraphs(CommandLine command, List<String> to) {
    CommandLine.Model.CommandSpec spec = command.getCommandSpec();
    assertThat(spec.usageMessage().description()).as(spec.qualifiedName()).isNotEmpty();
    Stream.of(spec.usageMessage().description()).filter(text -> !text.isEmpty()).forEach(to::add);
    spec.args().forEach(arg -> to.addAll(List.of(arg.description())));
    command.getSubcommands().values().forEach(sub -> paragraphs(sub, to));
  }

  @Test
  void shouldNameWhatAnOptionTakes() {
    List<String> labels = new ArrayList<>();
    labels(Fairway.commandLine(), labels);

    assertThat(labels)
        .hasSizeGreaterThan(50)
        .allSatisfy(label -> assertThat(label).doesNotContain("<"));
  }

  private static void labels(CommandLine command, List<String> to) {
    CommandLine.Model.CommandSpec spec = command.getCommandSpec();
    spec.args().stream()
        .filter(arg -> arg.arity().max() > 0)
        .forEach(arg -> to.add(spec.qualifiedName() + " " + arg.paramLabel()));
    command.getSubcommands().values().forEach(sub -> labels(sub, to));
  }

  @Test
  void shouldShowEveryCommandWithAllThatItSaysFirst() {
    for (Map.Entry<String, CommandLine> entry : Fairway.commandLine().getSubcommands().entrySet()) {
      String first = entry.getValue().getCommandSpec().usageMessage().description()[0];

      String list = Fairway.commandLine().getUsageMessage().replaceAll("\\s+", " ");

      assertThat(list).contains(entry.getKey() + " " + first.replaceAll("\\s+", " "));
    }
  }

  private void collect(CommandLine command, List<DynamicTest> tests) {
    List<String> words =
        new ArrayList<>(List.of(command.getCommandSpec().qualifiedName().split(" ")));
    words.remove(0);
    words.add("--help");
    tests.add(
        DynamicTest.dynamicTest(
            command.getCommandSpec().qualifiedName(),
            () -> {
              assertThat(run(words.toArray(new String[0]))).isZero();
              assertThat(out.toString())
                  .contains("Usage: " + command.getCommandSpec().qualifiedName())
                  .contains("Example:");
            }));
    for (Map.Entry<String, CommandLine> entry : command.getSubcommands().entrySet()) {
      collect(entry.getValue(), tests);
    }
  }
}
