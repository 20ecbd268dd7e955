package dev.fairway.cli;

import dev.fairway.cli.demo.emulator.Ledger;
import dev.fairway.cli.demo.emulator.ModelSpeed;
import dev.fairway.cli.demo.emulator.ProviderEmulator;
import dev.fairway.cli.demo.emulator.ProviderLimits;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code fairway demo emulator}: the emulated provider alone. */
@Command(
    name = "emulator",
    description = {
      "The emulated provider alone, on loopback, until it is stopped. It speaks Anthropic's Messages API"
          + " (POST /v1/messages, streaming or not, and count_tokens), enforces limits of its own with the provider's real"
          + " headers, and appends every call it saw to a ledger.",
      "",
      "A call has the size that the headers x-demo-input-tokens and x-demo-output-tokens say; without them"
          + " the input is a quarter of the characters sent, the output 200 tokens. x-demo-call, x-demo-turn"
          + " and x-demo-agent are kept in the ledger."
    },
    footer = {
      "",
      "Example:",
      "  fairway demo emulator --port 8089 --input-tokens-per-minute 200000 --ledger calls.jsonl"
    })
final class DemoEmulatorCommand extends BaseCommand {

  @Spec private CommandSpec spec;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      converter = PortConverter.class,
      defaultValue = "0",
      description = "Port on loopback; 0 for any free one (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--ledger",
      paramLabel = "FILE",
      converter = OutputFileConverter.class,
      description =
          "Append every call to FILE as JSON lines: one when it is admitted, one when it ended.")
  private Path ledger;

  @Option(
      names = "--requests-per-minute",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Limit of calls (default: ${DEFAULT-VALUE}).")
  private long requestsPerMinute;

  @Option(
      names = "--input-tokens-per-minute",
      paramLabel = "N",
      defaultValue = "450000",
      description = "Limit of input tokens (default: ${DEFAULT-VALUE}).")
  private long inputTokensPerMinute;

  @Option(
      names = "--output-tokens-per-minute",
      paramLabel = "N",
      defaultValue = "90000",
      description = "Limit of output tokens (default: ${DEFAULT-VALUE}).")
  private long outputTokensPerMinute;

  @Option(
      names = "--speed-up",
      paramLabel = "FACTOR",
      defaultValue = "1",
      description =
          "How much faster than usual the model answers; usual is 1 to 2 s and then 80 tokens a second"
              + " (default: ${DEFAULT-VALUE}).")
  private double speedUp;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(speedUp > 0)) {
      throw new ParameterException(
          spec.commandLine(), "Expected --speed-up above 0, but found " + speedUp + ".");
    }
    CountDownLatch stopped = new CountDownLatch(1);
    try (ProviderEmulator emulator =
        ProviderEmulator.start(port, limits(), ModelSpeed.REAL.faster(speedUp), openLedger())) {
      Thread hook = new Thread(stopped::countDown, "demo-emulator-stop");
      Runtime.getRuntime().addShutdownHook(hook);
      say("ready: emulated provider at " + emulator.uri());
      writeJson(Map.of("ready", true, "url", emulator.uri().toString()));
      stopped.await();
    } catch (BindException e) {
      throw new CliException(
          "Expected port "
              + port
              + " of 127.0.0.1 to be free, but another process listens on it. Choose another with"
              + " --port.",
          e);
    }
    return 0;
  }

  private ProviderLimits limits() {
    try {
      return ProviderLimits.full(requestsPerMinute, inputTokensPerMinute, outputTokensPerMinute);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage() + ".", e);
    }
  }

  private Ledger openLedger() {
    if (ledger == null) {
      return Ledger.inMemory();
    }
    try {
      return Ledger.appendingTo(ledger);
    } catch (IOException e) {
      throw new CliException(
          "Expected to append to "
              + ledger
              + ", but: "
              + FileTrouble.of(e)
              + ". Name a file that can be written.",
          e);
    }
  }
}
