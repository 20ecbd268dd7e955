package dev.fairway.cli.ops;

import dev.fairway.schemas.ProtocolData;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;

/** Copies of a quota with one field changed. */
public final class QuotaEdits {

  private QuotaEdits() {}

  /** A copy in another state. */
  public static Quota withState(Quota quota, QuotaState state) {
    return with(quota, "state", state);
  }

  /** A copy with another count of clears. */
  public static Quota withClearCount(Quota quota, int clearCount) {
    return with(quota, "clear_count", clearCount);
  }

  private static Quota with(Quota quota, String field, Object value) {
    // The generated builders copy by Avro's own model, which trusts no generated class.
    Quota copy = ProtocolData.model().deepCopy(Quota.getClassSchema(), quota);
    copy.put(field, value);
    return copy;
  }
}
