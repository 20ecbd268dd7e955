package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.Claims;

/**
 * As what a request is served: its claims, as far as they are allowed, and what has happened to it
 * in line.
 *
 * @param tenant tenant that it is served under
 * @param role role that weighs and that statistics are kept of
 * @param leaseClass class whose reserve it may use
 * @param budgetTask task whose retry budget it is counted in, or null
 * @param cacheBumped whether it was moved up for a cache that ends
 * @param passedSmall what small requests took while it was the head and waited for tokens
 * @param passedOthers what other requests took meanwhile
 * @param demand what it takes of every dimension, limited or not, where other quotas are taken from
 *     too; else null
 */
public record Standing(
    String tenant,
    String role,
    String leaseClass,
    String budgetTask,
    boolean cacheBumped,
    Amounts passedSmall,
    Amounts passedOthers,
    Amounts demand) {

  /** A standing at the beginning. */
  public static Standing of(Claims claims, String budgetTask, Amounts demand) {
    return new Standing(
        claims.tenant(),
        claims.role(),
        claims.leaseClass(),
        budgetTask,
        false,
        Amounts.NONE,
        Amounts.NONE,
        demand);
  }

  /** The same claims for the call's next attempt: nothing has passed it yet. */
  public Standing again() {
    return of(new Claims(tenant, role, leaseClass), budgetTask, demand);
  }

  /** The same request under a definition that has changed. */
  public Standing under(Claims claims, Amounts newDemand) {
    return new Standing(
        claims.tenant(),
        claims.role(),
        claims.leaseClass(),
        budgetTask,
        cacheBumped,
        passedSmall,
        passedOthers,
        newDemand);
  }

  Standing bumped() {
    return new Standing(
        tenant, role, leaseClass, budgetTask, true, passedSmall, passedOthers, demand);
  }

  Standing passedBy(boolean small, Amounts taken) {
    return new Standing(
        tenant,
        role,
        leaseClass,
        budgetTask,
        cacheBumped,
        small ? passedSmall.plus(taken) : passedSmall,
        small ? passedOthers : passedOthers.plus(taken),
        demand);
  }
}
