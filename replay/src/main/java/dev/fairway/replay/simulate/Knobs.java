package dev.fairway.replay.simulate;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.script.InvalidJsonException;
import dev.fairway.replay.script.QuotaJson;
import dev.fairway.replay.world.Admission;
import dev.fairway.schemas.Quota;
import java.util.List;

/** Checks the knobs of a study before the first run meets them. */
public final class Knobs {
  private static final long ANY_LIMIT = 1_000_000;

  private Knobs() {}

  /**
   * Checks that a quota can have these fields.
   *
   * @throws IllegalArgumentException with everything that is wrong, without a full stop
   */
  public static void check(ObjectNode knobs) {
    ObjectNode quota = JsonNodeFactory.instance.objectNode();
    quota.put("id", Admission.QUOTA);
    quota
        .putObject("limits")
        .put("requests_per_minute", ANY_LIMIT)
        .put("input_tokens_per_minute", ANY_LIMIT)
        .put("output_tokens_per_minute", ANY_LIMIT);
    quota.setAll(knobs);
    try {
      Quota parsed = QuotaJson.parse(quota);
      List<String> violations = QuotaJson.violations(quota, parsed);
      if (!violations.isEmpty()) {
        throw new IllegalArgumentException(refusal(String.join("; ", violations)));
      }
    } catch (InvalidJsonException e) {
      throw new IllegalArgumentException(refusal(e.getMessage()), e);
    }
  }

  private static String refusal(String errors) {
    return "Expected fields of a quota for --knobs, but: " + errors;
  }
}
