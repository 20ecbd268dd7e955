package dev.fairway.admission;

import dev.fairway.schemas.service.ServiceMain;
import java.io.PrintStream;
import java.util.Map;

/**
 * Runs a coordinator alone, against any cluster, until the process is told to end. Settings come
 * from a properties file, from {@code FAIRWAY_*} environment variables, or both.
 */
public final class AdmissionMain {
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
    if (status != ServiceMain.OK) {
      System.exit(status);
    }
  }

  static int run(String[] args, Map<String, String> environment, PrintStream out, PrintStream err) {
    return ServiceMain.run(
        args,
        out,
        err,
        USAGE,
        AdmissionConfig.documentation(),
        file -> serve(AdmissionConfig.load(file, environment), err));
  }

  private static int serve(AdmissionConfig config, PrintStream err) {
    AdmissionService service;
    try {
      service = AdmissionService.start(config);
    } catch (StartException e) {
      err.println("fairway: " + e.getMessage());
      return ServiceMain.FAILED;
    }
    Thread hook = new Thread(service::close, "fairway-admission-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      service.awaitStopped();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (hook.isAlive()) {
      return ServiceMain.OK;
    }
    service.close();
    err.println(
        "fairway: The coordinator stopped by itself after too many failures; its log says why.");
    return ServiceMain.FAILED;
  }
}
