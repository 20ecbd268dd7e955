package dev.fairway.cli.config;

import dev.fairway.schemas.Quota;
import java.util.List;
import java.util.Map;

/**
 * What a {@code fairway.yaml} says.
 *
 * @param quotas in the order of the file, ids unique
 * @param admission settings of the coordinator by name, as text; empty if the section is absent
 * @param kafka settings of every Kafka client by name, as text; empty if the section is absent
 */
public record FairwayConfig(
    List<Quota> quotas, Map<String, String> admission, Map<String, String> kafka) {

  /** Copies what it is given. */
  public FairwayConfig {
    quotas = List.copyOf(quotas);
    admission = Map.copyOf(admission);
    kafka = Map.copyOf(kafka);
  }
}
