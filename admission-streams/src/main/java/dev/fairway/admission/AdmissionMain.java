package dev.fairway.admission;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;

/**
 * Runs a coordinator alone, against any cluster, until the process is told to end. Settings come
 * from a properties file, from {@code FAIRWAY_*} environment variables, or both.
 */
public final class AdmissionMain {
  private static final int OK = 0;
  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  private static final String USAGE =
      """
      Usage: AdmissionMain [--config FILE] [--help]
      Decides who may call a model, and writes every decision to Fairway's journal.
      Settings come from FILE (name=value lines) and from the environment, which wins, for example
        FAIRWAY_BOOTSTRAP_SERVERS=localhost:9092 FAIRWAY_SCHEMA_REGISTRY_URL=http://localhost:8081
      """;

  private AdmissionMain() {}

  /**
   * Runs until SIGTERM or SIGINT, and exits with 0 then, with 2 on wrong usage, with 1 on failure.
   */
  public static void main(String[] args) {
    int status = run(args, System.getenv(), System.out, System.err);
    if (status != OK) {
      System.exit(status);
    }
  }

  static int run(String[] args, Map<String, String> environment, PrintStream out, PrintStream err) {
    Path file = null;
    Iterator<String> arguments = List.of(args).iterator();
    while (arguments.hasNext()) {
      String argument = arguments.next();
      if (argument.equals("--help")) {
        out.println(USAGE);
        out.println(AdmissionConfig.documentation());
        return OK;
      }
      if (!argument.equals("--config") || !arguments.hasNext()) {
        err.println("Expected --config FILE or --help, but found '" + argument + "'.");
        err.print(USAGE);
        return WRONG_USAGE;
      }
      file = Path.of(arguments.next());
    }
    try {
      return serve(AdmissionConfig.load(file, environment), err);
    } catch (ConfigException e) {
      err.println(e.getMessage());
      return WRONG_USAGE;
    } catch (NoSuchFileException e) {
      err.println("Expected a properties file at " + file + ", but there is none.");
      return WRONG_USAGE;
    } catch (IOException | StartException e) {
      err.println(e.getMessage());
      return FAILED;
    }
  }

  private static int serve(AdmissionConfig config, PrintStream err) {
    AdmissionService service = AdmissionService.start(config);
    Thread hook = new Thread(service::close, "fairway-admission-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      service.awaitStopped();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (hook.isAlive()) {
      return OK;
    }
    service.close();
    err.println("The coordinator stopped by itself after too many failures; its log says why.");
    return FAILED;
  }
}
