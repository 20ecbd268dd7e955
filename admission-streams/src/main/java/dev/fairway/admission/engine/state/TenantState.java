package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.OrderPolicy.TenantPolicy;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.queue.FairQueue;
import dev.fairway.admission.engine.queue.Tags;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** One tenant of a quota: its line, the tags of its agents, and its own tag among the tenants. */
public final class TenantState {
  final String name;
  final TenantPolicy policy;
  final FairQueue line = new FairQueue();
  final ShareBuckets ceiling;
  final Map<String, Set<String>> lines = new HashMap<>();
  Flows flows = new Flows();
  long virtualTime;

  /** Where its head starts among the tenants. */
  long tag;

  TenantState(String name, OrderPolicy order) {
    this.name = name;
    this.policy = order.tenant(name);
    this.ceiling = policy.ceilingBp() == null ? null : new ShareBuckets(policy.ceilingBp(), true);
  }

  /** Its name, or {@code default}. */
  public String name() {
    return name;
  }

  /** Its first request in line, or null. */
  public Waiter head() {
    return line.first();
  }

  /** Virtual time among its agents. */
  public long virtualTime() {
    return virtualTime;
  }

  /** Its start tag among the tenants while requests wait. */
  public long tag() {
    return tag;
  }

  /** Bucket of its own, or null. */
  public ShareBuckets ceiling() {
    return ceiling;
  }

  /** What a cost takes of its share, in tag units. */
  public long length(long cost) {
    return Tags.length(cost, policy.weightMilli());
  }

  boolean waits(String agentId) {
    return lines.containsKey(agentId);
  }

  /** Identities of an agent's requests in line, in no order. */
  Set<String> lineOf(String agentId) {
    return lines.get(agentId);
  }

  /** Where the agent's line ends, be it behind the virtual time. */
  long finishTag(String agentId) {
    Long flow = flows.tag(agentId);
    return flow == null ? virtualTime : flow;
  }

  /**
   * Where a request starts that comes back to a place that was kept for it: behind what its agent
   * was served or has in line since.
   */
  public long startTag(String agentId, long keptTag) {
    Long flow = flows.tag(agentId);
    return flow == null ? keptTag : Math.max(keptTag, flow);
  }

  /** Where the agent's next request starts. */
  public long startTag(String agentId) {
    Long flow = flows.tag(agentId);
    return flow == null ? virtualTime : Math.max(virtualTime, flow);
  }

  /** The next request after that one, or from the first on, that may use one of those lanes. */
  public Waiter nextInLane(long lanes, Waiter after) {
    return after == null
        ? line.nextInLane(lanes, Long.MIN_VALUE, Long.MIN_VALUE)
        : line.nextInLane(lanes, after.finishTag(), after.arrival());
  }

  /** The next request after that one, or from the first on, that takes at most that much. */
  public Waiter nextAtMost(Dimension d, long most, Waiter after) {
    return after == null
        ? line.nextAtMost(d, most, Long.MIN_VALUE, Long.MIN_VALUE)
        : line.nextAtMost(d, most, after.finishTag(), after.arrival());
  }
}
