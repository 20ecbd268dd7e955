package dev.fairway.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.cli.embedded.BrokerCheck;
import dev.fairway.cli.up.Addresses;
import dev.fairway.replay.verify.JournalFile;
import dev.fairway.replay.verify.JournalSource;
import dev.fairway.replay.verify.JournalTopic;
import dev.fairway.replay.verify.JournalVerifier;
import dev.fairway.replay.verify.UnreadableRecordException;
import dev.fairway.replay.verify.VerifyReport;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code fairway replay}: decides a journal again and compares, or copies it into a file. */
@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description = {
      "Proves that a journal is what the engine decides (--verify), or copies it into a file"
          + " (--export).",
      "Each command of the journal is decided again at its own time; events and snapshots must come"
          + " out the same, and balances and leases must add up without the engine.",
      "A record that is no journal record is told with its place, counted, and passed over."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all of the journal was verified or copied",
      "1:a mismatch was found, or the journal cannot be read",
      "2:wrong usage",
      "3:there was nothing to verify",
      "4:what could be read is right, but records were unreadable"
    },
    footer = {
      "",
      "Example:",
      "  fairway replay --verify",
      "  fairway replay --verify --bootstrap localhost:9092",
      "  fairway replay --export journal.jsonl --bootstrap localhost:9092",
      "  fairway replay --verify --journal journal.jsonl --json -"
    })
public final class ReplayCommand implements Callable<Integer> {
  private static final int FAILURE = 1;
  private static final int NOTHING = 3;
  private static final int INCOMPLETE = 4;

  /** More records that cannot be read than this are only counted. */
  private static final int UNREADABLE_TOLD_MAX = 20;

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int PROGRESS_EVERY = 100_000;

  @ArgGroup(multiplicity = "1")
  private Action action;

  @ArgGroup(multiplicity = "0..1")
  private Source source;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      defaultValue = "${FAIRWAY_DATA:-fairway-data}",
      description =
          "Data folder of the running 'fairway up' whose journal is read without --journal and"
              + " --bootstrap (default: $FAIRWAY_DATA, or fairway-data).")
  private Path data;

  @Option(
      names = "--registry",
      converter = RegistryUrlConverter.class,
      paramLabel = "URL",
      description =
          "Schema registry that goes with --bootstrap; without it the journal is read with the"
              + " schema of this version.")
  private String registry;

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      defaultValue = Topics.DEFAULT_PREFIX,
      description = "Prefix of the topics (default: ${DEFAULT-VALUE}).")
  private String prefix;

  @Option(
      names = "--json",
      paramLabel = "FILE|-",
      converter = OutputTargetConverter.class,
      defaultValue = "-",
      description = "Where the result goes as JSON; standard output by default.")
  private String target;

  @Spec private CommandSpec spec;

  private static final class Action {
    @Option(names = "--verify", required = true, description = "Decide again and compare.")
    private boolean verify;

    @Option(
        names = "--export",
        required = true,
        paramLabel = "FILE",
        converter = OutputFileConverter.class,
        description = "Write the journal to a file, one record a line, for --journal.")
    private Path export;
  }

  private static final class Source {
    @Option(
        names = "--journal",
        required = true,
        paramLabel = "FILE",
        description = "A file that --export wrote.")
    private Path journal;

    @Option(
        names = "--bootstrap",
        required = true,
        paramLabel = "HOST:PORT",
        description = "Kafka whose journal topic is read, up to the end it has now.")
    private String bootstrap;
  }

  @Override
  public Integer call() {
    try (JournalSource journal = open()) {
      return action.verify ? verify(journal) : export(journal);
    } catch (FileSystemException e) {
      return failed("expected to read or write " + e.getFile() + ", but: " + FileTrouble.of(e));
    } catch (IOException e) {
      return failed(e.getMessage());
    }
  }

  private JournalSource open() throws IOException {
    if (source == null) {
      Addresses up = Addresses.running(data);
      Topics topics = new Topics(up.prefix());
      return JournalTopic.connect(up.bootstrap(), up.registry(), topics, PATIENCE);
    }
    if (source.journal != null) {
      if (Files.isDirectory(source.journal)) {
        throw new FileSystemException(source.journal.toString(), null, "Is a directory");
      }
      return JournalFile.open(source.journal);
    }
    Topics topics;
    try {
      topics = new Topics(prefix);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    BrokerCheck.require(source.bootstrap, Map.of());
    return JournalTopic.connect(source.bootstrap, registry, topics, PATIENCE);
  }

  private int verify(JournalSource journal) throws IOException {
    JournalVerifier verifier = new JournalVerifier();
    readAll(journal, verifier::accept, verifier::unreadable);
    VerifyReport report = verifier.report();
    writeReport(report);
    report.firstFindings().forEach(this::complain);
    if (report.skipped() > 0) {
      say(
          report.skipped()
              + " records lie before the first whole snapshot of their key; nothing can be said of"
              + " them");
    }
    if (report.unreadable() > 0) {
      say(report.unreadable() + " records were passed over because they are no journal records");
    }
    if (!report.ok()) {
      return FAILURE;
    }
    if (report.empty()) {
      say(
          "expected a journal with records to verify, but found none; nothing was verified. Check"
              + (source == null || source.journal == null
                  ? " --bootstrap and --prefix"
                  : " --journal"));
      return NOTHING;
    }
    return report.unreadable() > 0 ? INCOMPLETE : 0;
  }

  private int export(JournalSource journal) throws IOException {
    long[] written = new long[1];
    long[] unreadable = new long[1];
    WholeFile.write(
        action.export,
        out ->
            readAll(
                journal,
                event -> {
                  JournalFile.write(event, out);
                  written[0]++;
                },
                record -> {
                  if (++unreadable[0] <= UNREADABLE_TOLD_MAX) {
                    complain("unreadable: " + record.getMessage());
                  }
                }));
    ObjectNode result = new ObjectMapper().createObjectNode();
    result.put("file", action.export.toString());
    result.put("records", written[0]);
    result.put("unreadable", unreadable[0]);
    write(result);
    if (unreadable[0] > 0) {
      say(unreadable[0] + " records were left out because they are no journal records");
      return INCOMPLETE;
    }
    return 0;
  }

  private interface Records {
    void accept(AdmissionEvent event) throws IOException;
  }

  /** To the end; a record that is none does not keep the others from being read. */
  private void readAll(
      JournalSource journal, Records records, Consumer<UnreadableRecordException> unreadable)
      throws IOException {
    long count = 0;
    boolean more = true;
    while (more) {
      try {
        AdmissionEvent event = journal.next();
        more = event != null;
        if (more) {
          records.accept(event);
        }
      } catch (UnreadableRecordException e) {
        unreadable.accept(e);
      }
      progress(++count);
    }
  }

  private void writeReport(VerifyReport report) throws IOException {
    ObjectNode result = new ObjectMapper().createObjectNode();
    result.put("inputs", report.inputs());
    result.put("events", report.events());
    result.put("mismatches", report.mismatches());
    result.put("conserved", report.conserved());
    result.put("keys", report.keys());
    result.put("skipped", report.skipped());
    result.put("unreadable", report.unreadable());
    ArrayNode findings = result.putArray("first_findings");
    report.firstFindings().forEach(findings::add);
    write(result);
  }

  private void write(ObjectNode result) throws IOException {
    if (target.equals("-")) {
      PrintWriter out = spec.commandLine().getOut();
      out.println(result);
      out.flush();
    } else {
      Files.writeString(Path.of(target), result + "\n", StandardCharsets.UTF_8);
    }
  }

  private void progress(long count) {
    if (count % PROGRESS_EVERY == 0 && System.console() != null) {
      spec.commandLine().getErr().println(count + " records");
    }
  }

  private void complain(String finding) {
    spec.commandLine().getErr().println(finding);
  }

  private int failed(String message) {
    say(message);
    return FAILURE;
  }

  private void say(String message) {
    complain("fairway: " + message);
  }
}
