package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * The order in which waiting requests of a quota are served, as a reader sees it: tenants by the
 * tag of their heads, and within a tenant requests by theirs. A quota without tenants has the one
 * level.
 */
public interface AdmissionOrder {

  /** Requests in line. */
  int size();

  /** Who is served next, or null. */
  Waiter head();

  /** Tenants with requests in line, the one that is served next first. */
  List<TenantState> tenants();

  /**
   * Tag at the upper level at which a request is served, whether it is in line or not; in a quota
   * without tenants its own finish tag.
   */
  long topTag(Waiter waiter);

  /** Who is served before a request, whether it is in line or not. */
  Ahead ahead(Waiter waiter);

  /** Who is served before a tag of the upper level; among equals, who arrived earlier. */
  Ahead before(long topTag, long arrival);

  /** What all requests in line take that may use a reserve. */
  Amounts inLanes();

  /** Visits in order of service, each with who is ahead of it, until the visitor answers false. */
  void forEach(BiPredicate<Waiter, Ahead> visitor);

  /**
   * Who stands ahead.
   *
   * @param count how many
   * @param demand what they take, per dimension that refills
   * @param inLanes of that, what requests take that may use a reserve
   * @param byTenant of that, what each tenant with a ceiling takes
   */
  record Ahead(int count, Amounts demand, Amounts inLanes, Map<String, Amounts> byTenant) {}
}
