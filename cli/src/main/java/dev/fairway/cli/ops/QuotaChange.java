package dev.fairway.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.schemas.Quota;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What applying a definition changes of a quota.
 *
 * @param quota the definition that results
 * @param isNew whether there was none of that id
 * @param fields what differs, sorted by field; empty if nothing does
 */
public record QuotaChange(Quota quota, boolean isNew, List<Field> fields) {

  /**
   * One field that differs.
   *
   * @param field path such as {@code limits.requests_per_minute}
   * @param from value as it is, or null for none
   * @param to value as it will be, or null for none
   */
  public record Field(String field, JsonNode from, JsonNode to) {}

  /**
   * Compares a definition of a file with the one in force. What operators do to a live quota is not
   * undone by a file that says nothing of it: its state stays unless the file names one, and so
   * does the count of clears.
   *
   * @param live null if there is none
   * @param stateGiven whether the file names the state
   */
  public static QuotaChange of(Quota live, Quota wanted, boolean stateGiven) {
    Quota result = wanted;
    if (live != null) {
      result = QuotaEdits.withState(wanted, stateGiven ? wanted.getState() : live.getState());
      result =
          QuotaEdits.withClearCount(result, Math.max(live.getClearCount(), wanted.getClearCount()));
    }
    Map<String, JsonNode> from = live == null ? Map.of() : flat(live);
    Map<String, JsonNode> to = flat(result);
    TreeSet<String> names = new TreeSet<>(from.keySet());
    names.addAll(to.keySet());
    List<Field> fields = new ArrayList<>();
    for (String name : names) {
      if (!Objects.equals(from.get(name), to.get(name))) {
        fields.add(new Field(name, from.get(name), to.get(name)));
      }
    }
    return new QuotaChange(result, live == null, fields);
  }

  /** {@code create}, {@code update} or {@code none}. */
  public String kind() {
    return isNew ? "create" : fields.isEmpty() ? "none" : "update";
  }

  private static Map<String, JsonNode> flat(Quota quota) {
    Map<String, JsonNode> flat = new TreeMap<>();
    flatten("", QuotaYaml.toTree(quota), flat);
    return flat;
  }

  private static void flatten(String path, JsonNode node, Map<String, JsonNode> into) {
    if (!node.isObject()) {
      into.put(path, node);
      return;
    }
    node.properties()
        .forEach(
            entry ->
                flatten(
                    path.isEmpty() ? entry.getKey() : path + "." + entry.getKey(),
                    entry.getValue(),
                    into));
  }
}
