package dev.fairway.cli.config;

import dev.fairway.agent.gateway.GatewayConfig.Route;
import dev.fairway.replay.script.ClosestName;
import dev.fairway.schemas.Quota;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a {@code fairway.yaml} says of quotas that nobody defines. No error, since they may be
 * defined later; until then the coordinator rejects each call.
 */
public final class UnknownQuotas {
  private UnknownQuotas() {}

  /**
   * A line for people about each name in {@code also} and in routes that is no quota.
   *
   * @param config the file
   * @param defined ids of the quotas that are defined, beside those of the file
   */
  public static List<String> named(FairwayConfig config, Set<String> defined) {
    Set<String> known = new TreeSet<>(defined);
    config.quotas().forEach(quota -> known.add(quota.getId()));
    List<String> lines = new ArrayList<>();
    for (Quota quota : config.quotas()) {
      for (String also : quota.getAlso()) {
        check("quota " + quota.getId() + ": also", also, known, lines);
      }
    }
    if (config.gateway() != null) {
      List<Route> routes = config.gateway().config().routes();
      for (int i = 0; i < routes.size(); i++) {
        check("gateway.routes[" + i + "].quota", routes.get(i).quota(), known, lines);
      }
    }
    return lines;
  }

  private static void check(String where, String id, Set<String> known, List<String> lines) {
    if (!known.contains(id)) {
      lines.add(
          where
              + " names "
              + id
              + ", but neither this file nor the cluster defines it: every call is rejected as"
              + " UNKNOWN_QUOTA until somebody does"
              + ClosestName.question(id, known));
    }
  }
}
