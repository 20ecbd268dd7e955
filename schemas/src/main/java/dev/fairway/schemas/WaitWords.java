package dev.fairway.schemas;

/** What a request waits for, in words that go after "for". */
public final class WaitWords {

  private static final String SLOT = "concurrent_requests";

  private WaitWords() {}

  /**
   * The words.
   *
   * @param ownQuota quota of the request: one that it takes from too is named
   */
  public static String of(WaitsFor waitsFor, String ownQuota) {
    boolean own = ownQuota.equals(waitsFor.getQuota());
    String quota = own ? "the quota" : "quota '" + waitsFor.getQuota() + "'";
    String of = own ? "" : " of " + quota;
    switch (waitsFor.getReason()) {
      case LIMIT:
        return (SLOT.equals(waitsFor.getDimension()) ? "a free slot" : waitsFor.getDimension())
            + of;
      case TENANT_CEILING:
        return "its tenant's share of " + limit(waitsFor);
      case RESERVE:
        return "its class's reserve of " + limit(waitsFor);
      case HOLD:
        return "the end of the hold of " + quota;
      case BREAKER:
        return "the probe of the breaker of " + quota;
      case RAMP:
        return "the ramp of " + quota + " after a hold";
      case RESET:
        return "the reset of the window of " + quota;
      default:
        return "an operator to resume " + quota;
    }
  }

  private static String limit(WaitsFor waitsFor) {
    return SLOT.equals(waitsFor.getDimension()) ? "slots" : waitsFor.getDimension();
  }
}
