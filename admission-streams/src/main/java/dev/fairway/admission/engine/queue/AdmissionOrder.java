package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.Waiter;
import java.util.function.Predicate;

/** The order in which waiting requests are served, as a reader sees it. */
public interface AdmissionOrder {

  /** Requests in line. */
  int size();

  /** Who is served next, or null. */
  Waiter head();

  /**
   * Who is served before a request of that tag and arrival, whether it is in line or not.
   *
   * @return how many, and the sum of their estimates per dimension that refills
   */
  Ahead ahead(long finishTag, long arrival);

  /** Visits in order of service, until the visitor answers false. */
  void forEach(Predicate<Waiter> visitor);

  /** Who stands ahead. */
  record Ahead(int count, Amounts estimates) {}
}
