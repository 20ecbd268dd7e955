package dev.fairway.agent;

import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.schemas.Grant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The open leases of one client. Its size is bounded by whoever admits calls. Thread-safe. */
final class LeaseBook {
  private final ClientContext context;
  private final Map<String, Lease> open = new ConcurrentHashMap<>();

  LeaseBook(ClientContext context) {
    this.context = context;
  }

  /** A lease that was just granted, renewed from now on. */
  Lease open(CallBook calls, PendingCall call, Grant grant, long expiresAtMs) {
    Lease lease = new Lease(context, this, calls, call, grant, expiresAtMs);
    open.put(key(lease), lease);
    lease.start();
    return lease;
  }

  /** A call that goes on without a lease, and is reported when it ends. */
  Lease openUnleased(
      CallBook calls, PendingCall call, String requestId, ShareBucket.Amounts charged) {
    Lease lease = new Lease(context, this, calls, call, requestId, charged);
    open.put(key(lease), lease);
    return lease;
  }

  void remove(Lease lease) {
    open.remove(key(lease), lease);
  }

  private static String key(Lease lease) {
    return lease.leased() ? lease.leaseId() : lease.requestId();
  }

  int size() {
    return open.size();
  }

  /** Closes every open lease. */
  void close() {
    for (Lease lease : List.copyOf(open.values())) {
      lease.close();
    }
  }
}
