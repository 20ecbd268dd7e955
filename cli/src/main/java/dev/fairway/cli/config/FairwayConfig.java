package dev.fairway.cli.config;

import dev.fairway.schemas.Quota;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a {@code fairway.yaml} says.
 *
 * @param quotas in the order of the file, ids unique
 * @param stateGiven ids of the quotas whose state the file names
 * @param admission settings of the coordinator by name, as text; empty if the section is absent
 * @param gateway the gateway, or null if the section is absent
 * @param kafka settings of every Kafka client by name, as text; empty if the section is absent
 */
public record FairwayConfig(
    List<Quota> quotas,
    Set<String> stateGiven,
    Map<String, String> admission,
    GatewaySection gateway,
    Map<String, String> kafka) {

  /** Copies what it is given. */
  public FairwayConfig {
    quotas = List.copyOf(quotas);
    stateGiven = Set.copyOf(stateGiven);
    admission = Map.copyOf(admission);
    kafka = Map.copyOf(kafka);
  }

  /** Whether the file names the state of a quota, rather than leaving it at its default. */
  public boolean givesStateOf(String quotaId) {
    return stateGiven.contains(quotaId);
  }
}
