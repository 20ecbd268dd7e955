package dev.fairway.cli.embedded;

import dev.fairway.cli.UsageErrors;
import dev.fairway.schemas.Topics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Sets up the topics of a cluster and ends; for deployments in which each part runs by itself. */
@Command(
    name = "TopicSetupMain",
    mixinStandardHelpOptions = true,
    description = "Create the topics that are missing and check those that exist.",
    footer = {"", "Example:", "  TopicSetupMain --bootstrap kafka-1:9092 --partitions 48"})
public final class TopicSetupMain implements Callable<Integer> {

  private static final int FAILURE = 1;

  @Spec private CommandSpec spec;

  @Option(
      names = "--bootstrap",
      required = true,
      paramLabel = "HOST:PORT",
      description = "Kafka that gets the topics.")
  private String bootstrap;

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      defaultValue = Topics.DEFAULT_PREFIX,
      description = "Prefix of the topics (default: ${DEFAULT-VALUE}).")
  private String prefix;

  @Option(
      names = "--partitions",
      paramLabel = "N",
      defaultValue = "48",
      description = "Partitions of topics that are created (default: ${DEFAULT-VALUE}).")
  private int partitions;

  @Option(
      names = "--replication-factor",
      paramLabel = "N",
      defaultValue = "3",
      description = "Replicas of topics that are created (default: ${DEFAULT-VALUE}).")
  private short replicationFactor;

  @Option(
      names = "--min-insync-replicas",
      paramLabel = "N",
      defaultValue = "2",
      description = "Replicas that have to have a record (default: ${DEFAULT-VALUE}).")
  private int minInsyncReplicas;

  private TopicSetupMain() {}

  /** Exit codes: 0 all topics are as they should be, 1 not, 2 wrong usage. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /** The command, to be executed in this process. */
  public static CommandLine commandLine() {
    return new CommandLine(new TopicSetupMain()).setParameterExceptionHandler(UsageErrors::tell);
  }

  @Override
  public Integer call() {
    try (Admin admin = BrokerCheck.connect(bootstrap, Map.of())) {
      TopicSetup setup = new TopicSetup(admin);
      List<String> created =
          setup.ensure(
              new Topics(prefix),
              new TopicLayout(partitions, replicationFactor, minInsyncReplicas));
      spec.commandLine()
          .getOut()
          .println(created.isEmpty() ? "all topics are there already" : "created " + created);
      setup
          .warnings()
          .forEach(warning -> spec.commandLine().getErr().println("fairway: " + warning));
      return 0;
    } catch (BrokerException | TopicSetupException | IllegalArgumentException e) {
      spec.commandLine().getErr().println("fairway: " + e.getMessage() + remedy(e));
      return FAILURE;
    }
  }

  private String remedy(RuntimeException e) {
    return e.getCause() instanceof InvalidReplicationFactorException
        ? " Expected "
            + replicationFactor
            + " brokers or more for as many replicas. On fewer, give --replication-factor and"
            + " --min-insync-replicas; on one broker: --replication-factor 1 --min-insync-replicas 1."
        : "";
  }
}
