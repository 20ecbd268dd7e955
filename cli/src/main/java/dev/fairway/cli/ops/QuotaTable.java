package dev.fairway.cli.ops;

import dev.fairway.schemas.Quota;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the topic of quotas holds, and whether the coordinator decides by it. A record that another
 * tool wrote may have been refused: it stands in the topic nevertheless.
 */
public final class QuotaTable {

  /**
   * One record of the topic.
   *
   * @param id record key: the quota's id, if another tool did not mistake it
   * @param quota null if it cannot be read
   * @param inForce whether the coordinator decides by this definition; null if it was not asked
   * @param detail why it is not in force, for people; null if it is, or if that is not known
   */
  public record Line(String id, Quota quota, Boolean inForce, String detail) {}

  private QuotaTable() {}

  /**
   * The records of the topic by key, sorted.
   *
   * @param only record key; null: all
   * @param decidedBy the definitions that the coordinators decide by, by quota id; null if they
   *     were not asked
   */
  public static List<Line> read(Pipeline pipeline, String only, Map<String, Quota> decidedBy) {
    String topic = pipeline.topics().quotas();
    Map<String, CompactedTable.Entry<Quota>> entries = new QuotaStore(pipeline).entries();
    if (only != null) {
      entries.keySet().retainAll(Set.of(only));
    }
    Map<String, String> refused = new LinkedHashMap<>();
    entries.forEach(
        (id, entry) -> {
          if (Boolean.FALSE.equals(inForce(entry, decidedBy))) {
            refused.put(id, DeadLetter.source(topic, entry.partition(), entry.offset()));
          }
        });
    Map<String, DeadLetter> letters =
        refused.isEmpty()
            ? Map.of()
            : new DeadLetterStore(pipeline).bySource(Set.copyOf(refused.values()));
    List<Line> lines = new ArrayList<>();
    entries.forEach(
        (id, entry) -> {
          boolean earlier = decidedBy != null && decidedBy.containsKey(id);
          String detail =
              refused.containsKey(id)
                  ? why(entry, letters.get(refused.get(id)))
                      + (earlier ? "; an earlier definition is in force" : "")
                  : null;
          lines.add(new Line(id, entry.value(), inForce(entry, decidedBy), detail));
        });
    return lines;
  }

  private static Boolean inForce(CompactedTable.Entry<Quota> entry, Map<String, Quota> decidedBy) {
    if (entry.value() == null) {
      return false;
    }
    return decidedBy == null ? null : (Boolean) InForce.isDecidedBy(decidedBy, entry.value());
  }

  private static String why(CompactedTable.Entry<Quota> entry, DeadLetter letter) {
    if (letter != null) {
      return "refused: " + letter.reason() + ": " + letter.detail();
    }
    return entry.error() != null
        ? "refused: " + entry.error()
        : "not read yet, or refused so long ago that its dead letter is gone";
  }
}
