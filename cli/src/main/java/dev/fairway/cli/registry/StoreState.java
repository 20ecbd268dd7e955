package dev.fairway.cli.registry;

import java.util.List;
import java.util.Map;

/**
 * Everything that the registry knows. Never changed, only replaced.
 *
 * @param schemas canonical text of the schemas; the schema with id n stands at n - 1
 * @param versions ids of a subject's versions; version n stands at n - 1
 * @param compatibility level of subjects without one of their own
 * @param subjectCompatibility levels that were set for a subject, registered or not
 */
record StoreState(
    List<String> schemas,
    Map<String, List<Integer>> versions,
    Compatibility compatibility,
    Map<String, Compatibility> subjectCompatibility) {

  static final StoreState EMPTY =
      new StoreState(List.of(), Map.of(), Compatibility.BACKWARD_TRANSITIVE, Map.of());
}
