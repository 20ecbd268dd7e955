package dev.fairway.cli.ops.why;

import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.WaiterRow;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The requests in line, as far as the part of the journal that was read tells. */
final class Waiters {

  /**
   * At the bound the one that came first is forgotten: then the story says less of it, and is still
   * true.
   */
  private static final int WAITERS_MAX = 200_000;

  private record Id(String quota, String agent, String request) {}

  private final Map<Id, WaiterRow> waiters = new LinkedHashMap<>();

  void add(WaiterRow waiter) {
    LeaseRequest request = waiter.getRequest();
    waiters.put(new Id(request.getQuota(), request.getAgentId(), request.getRequestId()), waiter);
    if (waiters.size() > WAITERS_MAX) {
      Iterator<Id> first = waiters.keySet().iterator();
      first.next();
      first.remove();
    }
  }

  /** The one that left, or null if it was not seen coming. */
  WaiterRow remove(String quota, String agent, String request) {
    return waiters.remove(new Id(quota, agent, request));
  }

  void keepOnly(String quota) {
    waiters.keySet().removeIf(id -> !id.quota().equals(quota));
  }

  /** How many of the same quota come before this one in the fair order. */
  long ahead(WaiterRow waiter) {
    return waiters.values().stream().filter(other -> isBefore(other, waiter)).count();
  }

  /** Smallest finish tag first, the earlier arrival first among equals. */
  static boolean isBefore(WaiterRow a, WaiterRow b) {
    return a.getFinishTag() != b.getFinishTag()
        ? a.getFinishTag() < b.getFinishTag()
        : a.getArrival() < b.getArrival();
  }
}
