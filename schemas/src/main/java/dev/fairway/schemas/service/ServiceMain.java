package dev.fairway.schemas.service;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.config.ConfigException;

/** The command line of a program that has settings alone: {@code [--config FILE] [--help]}. */
public final class ServiceMain {

  /** Exit code of a program that was told to end. */
  public static final int OK = 0;

  /** Exit code of a program that cannot do its work. */
  public static final int FAILED = 1;

  /** Exit code where the command line or a setting is wrong. */
  public static final int WRONG_USAGE = 2;

  private ServiceMain() {}

  /** The program itself. */
  public interface Program {

    /**
     * Runs until it is told to end.
     *
     * @param file where settings stand, or null
     * @return exit code
     * @throws IOException if it cannot do its work; the message is for people
     */
    int run(Path file) throws IOException;
  }

  /**
   * Runs a program with these arguments.
   *
   * @param usage printed on wrong usage, and above the settings for {@code --help}
   * @param settings every setting with its meaning
   * @return exit code
   */
  public static int run(
      String[] args,
      PrintStream out,
      PrintStream err,
      String usage,
      String settings,
      Program program) {
    Path file = null;
    Iterator<String> arguments = List.of(args).iterator();
    while (arguments.hasNext()) {
      String argument = arguments.next();
      if (argument.equals("--help")) {
        out.println(usage);
        out.println(settings);
        return OK;
      }
      if (!argument.equals("--config") || !arguments.hasNext()) {
        err.println("fairway: Expected --config FILE or --help, but found '" + argument + "'.");
        err.print(usage);
        return WRONG_USAGE;
      }
      file = Path.of(arguments.next());
    }
    try {
      return program.run(file);
    } catch (ConfigException e) {
      err.println("fairway: " + e.getMessage());
      return WRONG_USAGE;
    } catch (IOException e) {
      err.println("fairway: " + e.getMessage());
      return FAILED;
    }
  }
}
