package dev.fairway.cli.embedded;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.common.errors.AuthenticationException;

/** Finds out soon whether a broker answers. */
public final class Brokers {

  private static final int ANSWER_S = 10;

  private Brokers() {}

  /**
   * An admin client of a broker that answers; the caller closes it.
   *
   * @param settings of the client, {@code bootstrap.servers} among them
   * @param bootstrap the address, for messages
   * @throws NoBrokerException if none answers within 10 s, or it refuses
   */
  public static Admin connect(Map<String, Object> settings, String bootstrap) {
    Admin admin = Admin.create(settings);
    NoBrokerException failure;
    try {
      admin
          .describeCluster(new DescribeClusterOptions().timeoutMs(ANSWER_S * 1_000))
          .nodes()
          .get(ANSWER_S, TimeUnit.SECONDS);
      return admin;
    } catch (ExecutionException e) {
      failure =
          e.getCause() instanceof AuthenticationException
              ? new NoBrokerException(
                  "Kafka at " + bootstrap + " refused: " + e.getCause().getMessage(), e)
              : unreachable(bootstrap, e);
    } catch (TimeoutException e) {
      failure = unreachable(bootstrap, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = new NoBrokerException("Interrupted while connecting to " + bootstrap + ".", e);
    }
    // What was asked is not waited for: nobody is there.
    admin.close(Duration.ZERO);
    throw failure;
  }

  private static NoBrokerException unreachable(String bootstrap, Exception cause) {
    return new NoBrokerException(
        "Expected a Kafka broker at "
            + bootstrap
            + ", but none answered within "
            + ANSWER_S
            + " s. Start it, or name another with --bootstrap.",
        cause);
  }
}
