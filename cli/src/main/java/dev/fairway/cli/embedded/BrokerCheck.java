package dev.fairway.cli.embedded;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;

/** Whether a broker answers, and the one way of saying that none does. */
public final class BrokerCheck {

  /** How long a broker has to answer, in milliseconds. */
  public static final int ANSWER_MS = 10_000;

  private BrokerCheck() {}

  /**
   * An admin client of a broker that answers; the caller's to close.
   *
   * @param bootstrap address for {@code bootstrap.servers}
   * @param clientSettings further settings of the client; may be empty
   * @throws BrokerException if none answers
   */
  public static Admin connect(String bootstrap, Map<String, ?> clientSettings) {
    Map<String, Object> settings = new HashMap<>(clientSettings);
    settings.put("bootstrap.servers", bootstrap);
    settings.put("request.timeout.ms", ANSWER_MS);
    settings.put("default.api.timeout.ms", ANSWER_MS);
    Admin admin;
    try {
      admin = Admin.create(settings);
    } catch (KafkaException e) {
      throw new BrokerException(
          "Expected a Kafka broker as HOST:PORT, but found "
              + bootstrap
              + ": "
              + EmbeddedKafka.rootOf(e)
              + ". Name another with --bootstrap.",
          e);
    }
    try {
      admin.describeCluster().nodes().get(ANSWER_MS, TimeUnit.MILLISECONDS);
      return admin;
    } catch (ExecutionException e) {
      admin.close(Duration.ZERO);
      throw e.getCause() instanceof AuthenticationException
          ? new BrokerException(
              "Kafka at " + bootstrap + " refused: " + e.getCause().getMessage(), e)
          : unreachable(bootstrap, e);
    } catch (TimeoutException e) {
      admin.close(Duration.ZERO);
      throw unreachable(bootstrap, e);
    } catch (InterruptedException e) {
      admin.close(Duration.ZERO);
      Thread.currentThread().interrupt();
      throw new BrokerException("Interrupted.", e);
    }
  }

  /**
   * Checks that a broker answers.
   *
   * @throws BrokerException if none does
   */
  public static void require(String bootstrap, Map<String, ?> clientSettings) {
    connect(bootstrap, clientSettings).close();
  }

  /** That no broker answers. */
  public static BrokerException unreachable(String bootstrap, Exception cause) {
    return new BrokerException(
        "Expected a Kafka broker at "
            + bootstrap
            + ", but none answered within "
            + ANSWER_MS / 1000
            + " s. Start it, or name another with --bootstrap.",
        cause);
  }
}
