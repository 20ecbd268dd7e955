package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;

/**
 * How far above the depth a balance that follows a token bucket goes on counting. A call as large
 * as the provider's bucket is let through only when that is full to the last token, and somebody
 * else's call in the meantime sets it back unseen; so such a call waits until the bucket would have
 * been full for a while. Pure arithmetic.
 */
public final class Overfill {
  /** Milliseconds of the rate: the second that the depth keeps free, and half of one more. */
  private static final long FULL_FOR_MS = 1_500;

  private static final long MINUTE_MS = 60_000;

  private Overfill() {}

  /** Tokens above the depth; none where a bucket is deep, for there no usual call needs all. */
  public static long of(QuotaPolicy policy, Dimension d, MarginModeName mode, long limit) {
    boolean tokens = d == Dimension.INPUT_TOKENS || d == Dimension.TOKENS;
    boolean counts =
        tokens
            && mode == MarginModeName.ADAPTIVE
            && policy.window() == Window.TOKEN_BUCKET
            && policy.shallow(d, limit);
    return counts ? FixedPoint.mulDiv(limit, FULL_FOR_MS, MINUTE_MS) : 0;
  }
}
