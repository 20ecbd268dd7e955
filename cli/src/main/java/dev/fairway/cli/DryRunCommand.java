package dev.fairway.cli;

import dev.fairway.admission.engine.EngineException;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.replay.script.EventLines;
import dev.fairway.replay.script.ScriptException;
import dev.fairway.replay.script.ScriptReader;
import dev.fairway.replay.script.ScriptRunner;
import dev.fairway.schemas.service.FileTrouble;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code fairway dry-run}: the engine on a script, in virtual time, without Kafka. */
@Command(
    name = "dry-run",
    mixinStandardHelpOptions = true,
    description = {
      "Runs a script through the engine in virtual time, without Kafka: one JSON object a line in,"
          + " one event a line out.",
      "A line has at_ms and one of quota, request, settle, task, show. Between lines, time moves"
          + " through every deadline; after the last one it runs until nobody waits and no lease is"
          + " open.",
      "A settle line may name the request instead of the lease. Without an agent it is the request's"
          + " own one, also where a CANCELLED or UNLEASED line comes before the line of its request;"
          + " the script is then read on until that line."
    },
    footer = {
      "",
      "Example:",
      "  fairway dry-run - <<'END'",
      "  {\"at_ms\":0,\"quota\":{\"id\":\"q\",\"limits\":{\"tokens_per_minute\":100}}}",
      "  {\"at_ms\":0,\"request\":{\"id\":\"r1\",\"quota\":\"q\",\"input_tokens\":80}}",
      "  {\"at_ms\":9,\"settle\":{\"request\":\"r1\",\"quota\":\"q\",\"outcome\":\"NOT_SENT\"}}",
      "  {\"at_ms\":1000,\"show\":\"q\"}",
      "  END"
    })
public final class DryRunCommand implements Callable<Integer> {
  private static final int FAILURE = 1;

  /** More notes than this say nothing new about a script. */
  private static final int NOTES_MAX = 20;

  @Parameters(paramLabel = "FILE|-", description = "The script; - reads standard input.")
  private String script;

  @Option(
      names = "--json",
      paramLabel = "FILE|-",
      converter = OutputTargetConverter.class,
      defaultValue = "-",
      description = "Where the events go; standard output by default.")
  private String target;

  @Spec private CommandSpec spec;

  private final InputStream standardInput;
  private long notes;

  /** A command that reads the process's standard input where it is told to. */
  public DryRunCommand() {
    this(System.in);
  }

  DryRunCommand(InputStream standardInput) {
    this.standardInput = standardInput;
  }

  @Override
  public Integer call() {
    try (Reader in = input()) {
      if (target.equals("-")) {
        // Standard output stays open: it is not this command's to close.
        return run(in, spec.commandLine().getOut());
      }
      try (Writer out = Files.newBufferedWriter(Path.of(target), StandardCharsets.UTF_8)) {
        return run(in, out);
      }
    } catch (NoSuchFileException e) {
      return failed(
          "expected a file that exists, or - for standard input, but there is no " + e.getFile());
    } catch (IOException e) {
      return failed(
          "expected to read " + script + " and to write " + target + ", but: " + FileTrouble.of(e));
    }
  }

  private int run(Reader in, Writer out) throws IOException {
    EventLines lines = new EventLines(out);
    try {
      ScriptRunner runner = new ScriptRunner(new ScriptReader(in), new Printer(lines, this::noted));
      long steps = 0;
      while (runner.step()) {
        steps++;
        if (script.equals("-")) {
          // Whoever feeds a pipe wants to see what each line did before writing the next.
          lines.flush();
        }
      }
      if (steps == 0) {
        say(
            "expected one JSON object a line in "
                + (script.equals("-") ? "standard input" : script)
                + ", but it is empty; nothing was run");
      }
      Optional<String> stopped = runner.finish();
      lines.flush();
      if (notes > NOTES_MAX) {
        say(notes - NOTES_MAX + " more such notes are left out");
      }
      return stopped.map(this::failed).orElse(0);
    } catch (ScriptException | EngineException e) {
      lines.flush();
      return failed(e.getMessage());
    }
  }

  private Reader input() throws IOException {
    InputStream bytes = script.equals("-") ? standardInput : Files.newInputStream(Path.of(script));
    return new BufferedReader(new InputStreamReader(bytes, StandardCharsets.UTF_8));
  }

  /** What a line meant, on standard error: standard output has events alone. */
  private void noted(String note) {
    if (++notes <= NOTES_MAX) {
      say(note);
    }
  }

  private int failed(String message) {
    say(message);
    return FAILURE;
  }

  private void say(String message) {
    spec.commandLine().getErr().println("fairway: " + message);
  }

  private record Printer(EventLines lines, Consumer<String> notes) implements ScriptRunner.Output {
    @Override
    public void noted(long lineNumber, String text) {
      notes.accept("line " + lineNumber + ": " + text);
    }

    @Override
    public void handled(Handled handled) throws IOException {
      for (Event event : handled.events()) {
        lines.event(handled.atMs(), event);
      }
    }

    @Override
    public void shown(long atMs, QuotaSnapshot snapshot) throws IOException {
      lines.show(atMs, snapshot);
    }
  }
}
