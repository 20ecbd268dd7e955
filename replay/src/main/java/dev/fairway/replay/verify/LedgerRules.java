package dev.fairway.replay.verify;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the ledger of a quota needs of its definition, with the defaults of the published rules. */
final class LedgerRules {
  /**
   * Names of the dimensions, at the positions of the {@link Amounts} and {@link Limits} records.
   */
  static final String[] NAMES = {
    "requests", "input_tokens", "output_tokens", "tokens", "concurrent_requests"
  };

  /** Position of the dimension that does not refill. */
  static final int CONCURRENCY = 4;

  /** Position of the dimension that is produced after the grant. */
  static final int OUTPUT = 2;

  /** Positions of the dimensions that a call's input counts in. */
  static final int INPUT = 1;

  static final int TOKENS = 3;

  private static final double MARGIN_START = 0.85;
  private static final double MARGIN_FLOOR = 0.60;

  private final Quota quota;

  LedgerRules(Quota quota) {
    this.quota = quota;
  }

  boolean limited(int dimension) {
    return configuredLimit(dimension) != null;
  }

  Long configuredLimit(int dimension) {
    return (Long) quota.getLimits().get(dimension);
  }

  /**
   * The operator's depth, a learned limit at most; else that of the window: a minute of the limit
   * less a second of its rate, rounded up; the limit, where it starts anew; a fifth of it, where it
   * rolls.
   */
  long depth(int dimension, long limit) {
    Long configured = value(quota.getDepth(), dimension);
    if (dimension == CONCURRENCY) {
      return limit;
    }
    if (configured != null) {
      return limit < configuredLimit(dimension) ? Math.min(configured, limit) : configured;
    }
    if (quota.getWindow() == ProviderWindow.ROLLING) {
      return Math.max(1, limit / 5);
    }
    return fixedWindow() ? limit : limit - limit / 60;
  }

  boolean fixedWindow() {
    return quota.getWindow() == ProviderWindow.FIXED;
  }

  /**
   * Share of the limit that refills; in a rolling window with an operator's depth never more than
   * it beside the depth, unless what the last minute took is added up too.
   */
  int rateBp(int dimension, long limit) {
    if (quota.getWindow() != ProviderWindow.ROLLING) {
      return 10_000;
    }
    boolean addedUp = exactWindows() && dimension != OUTPUT;
    if (addedUp || value(quota.getDepth(), dimension) == null) {
      return 8_000;
    }
    long beside = limit - Math.min(limit, depth(dimension, limit));
    return (int) Math.max(100, Math.min(8_000, beside * 10_000 / limit));
  }

  boolean shallowTokenBucket(int dimension, long limit) {
    return quota.getWindow() == ProviderWindow.TOKEN_BUCKET && shallow(dimension, limit);
  }

  private boolean shallow(int dimension, long limit) {
    return 2 * depth(dimension, limit) < limit * rateBp(dimension, limit) / 10_000;
  }

  /**
   * The mode that the margin is applied in.
   *
   * @param fresh whether the provider told its level within the last minute
   */
  MarginMode mode(int dimension, long limit, boolean fresh) {
    MarginMode configured = quota.getMargin() == null ? null : quota.getMargin().getMode();
    if (dimension == CONCURRENCY) {
      return null;
    }
    if (configured == null && quota.getPolicy() == PolicyPreset.SEED) {
      return MarginMode.RATE;
    }
    if (configured != null && configured != MarginMode.AUTO) {
      return configured;
    }
    if (fresh) {
      return MarginMode.ADAPTIVE;
    }
    return shallow(dimension, limit) ? MarginMode.RESERVE : MarginMode.RATE;
  }

  /** Limits that the provider named last no longer than answers name them. */
  boolean limitsExpire() {
    return rule(quota.getRules() == null ? null : quota.getRules().getLimitExpiry());
  }

  /** What was used stays used where a margin shrinks; else a balance is only clipped. */
  boolean keepsUse() {
    return rule(quota.getRules() == null ? null : quota.getRules().getKeepUse());
  }

  /** Windows are told apart: no refund of a minute that is over, and a last minute that counts. */
  boolean exactWindows() {
    return rule(quota.getRules() == null ? null : quota.getRules().getExactWindows());
  }

  /** What others take slows the refill down; in both presets. */
  boolean takesOutsideOff() {
    Boolean knob = quota.getRules() == null ? null : quota.getRules().getOutsideRate();
    return knob == null || knob;
  }

  /** A rule that the plain preset does not have. */
  private boolean rule(Boolean knob) {
    return knob != null ? knob : quota.getPolicy() != PolicyPreset.SEED;
  }

  /** The level given, or null. */
  Long level(int dimension) {
    return value(quota.getLevel(), dimension);
  }

  boolean sameLevels(LedgerRules other) {
    return quota.getLevel() == null || quota.getLevel().equals(other.quota.getLevel());
  }

  int marginStartBp() {
    Margin margin = quota.getMargin();
    return bp(margin == null ? null : margin.getStart(), MARGIN_START);
  }

  int marginFloorBp() {
    Margin margin = quota.getMargin();
    return Math.min(marginStartBp(), bp(margin == null ? null : margin.getFloor(), MARGIN_FLOOR));
  }

  /** Shares of the tenants that have a ceiling, basis points by name. */
  Map<String, Integer> ceilings() {
    Map<String, Integer> shares = new TreeMap<>();
    quota
        .getTenants()
        .forEach(
            (name, tenant) -> {
              if (tenant.getCeiling() != null) {
                shares.put(name, Math.max(1, bp(tenant.getCeiling(), 1)));
              }
            });
    return shares;
  }

  /** Shares of the classes that have a reserve, basis points by name. */
  Map<String, Integer> reserves() {
    Map<String, Integer> shares = new TreeMap<>();
    quota
        .getClasses()
        .forEach(
            (name, leaseClass) -> {
              if (leaseClass.getReserve() > 0) {
                shares.put(name, Math.max(1, bp(leaseClass.getReserve(), 0)));
              }
            });
    return shares;
  }

  /** Other quotas that a lease takes from too. */
  List<String> also() {
    return quota.getAlso();
  }

  static Long value(Amounts amounts, int dimension) {
    return amounts == null ? null : (Long) amounts.get(dimension);
  }

  static long amount(Amounts amounts, int dimension) {
    Long value = value(amounts, dimension);
    return value == null ? 0 : value;
  }

  /** Amounts of one dimension. */
  static Amounts amounts(int dimension, long amount) {
    Amounts amounts = new Amounts();
    amounts.put(dimension, amount);
    return amounts;
  }

  static int dimension(String name) {
    for (int i = 0; i < NAMES.length; i++) {
      if (NAMES[i].equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("Expected a dimension, but found " + name);
  }

  private static int bp(Double share, double absent) {
    return (int) Math.round((share == null ? absent : share) * 10_000);
  }
}
