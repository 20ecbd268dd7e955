package dev.fairway.admission.engine;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Budgets;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;
import java.util.Map;

/** Quotas and requests for tests of the order; margin 1, no queue wait too long. */
final class OrderContext {
  static final Amounts LIMIT = Amounts.of(Dimension.INPUT_TOKENS, 60_000);

  private OrderContext() {}

  /** A quota of 60,000 input tokens a minute, a thousand a second, empty to begin with. */
  static Quota quota() {
    return new Quota(
        EngineContext.QUOTA,
        LIMIT,
        Amounts.of(Dimension.INPUT_TOKENS, 0),
        List.of(),
        Map.of(),
        Map.of(),
        null);
  }

  record Quota(
      String id,
      Amounts limits,
      Amounts level,
      List<String> also,
      Map<String, Double> classes,
      Map<String, Tenant> tenants,
      Budgets budgets) {

    Quota named(String name) {
      return new Quota(name, limits, level, also, classes, tenants, budgets);
    }

    Quota full() {
      return new Quota(id, limits, null, also, classes, tenants, budgets);
    }

    Quota limits(Amounts newLimits) {
      return new Quota(id, newLimits, null, also, classes, tenants, budgets);
    }

    Quota takingFrom(String... others) {
      return new Quota(id, limits, level, List.of(others), classes, tenants, budgets);
    }

    Quota reserve(double share) {
      return new Quota(id, limits, level, also, Map.of("interactive", share), tenants, budgets);
    }

    Quota tenants(Map<String, Tenant> newTenants) {
      return new Quota(id, limits, level, also, classes, newTenants, budgets);
    }

    Quota budgets(Integer retries, Integer calls, Double share) {
      return new Quota(
          id, limits, level, also, classes, tenants, new Budgets(retries, calls, share));
    }

    QuotaDefinition definition() {
      return new QuotaDefinition(
          id,
          "anthropic",
          QuotaDefinition.Preset.FAIRWAY,
          List.of(),
          also,
          QuotaDefinition.Window.TOKEN_BUCKET,
          limits,
          null,
          level,
          new QuotaDefinition.Margin(
              QuotaDefinition.MarginModeName.RATE, 1.0, 0.6, null, null, null),
          86_400_000L,
          86_400_000L,
          null,
          null,
          null,
          null,
          null,
          100_000,
          100_000,
          budgets,
          classes,
          tenants,
          Map.of(),
          null,
          QuotaDefinition.State.ACTIVE,
          0);
    }

    EngineContext start() {
      return EngineContext.with(definition());
    }

    void defineIn(EngineContext context) {
      context.submit(new Command.DefineQuota(definition(), EngineContext.SALT));
    }
  }

  static Tenant tenant(double weight, Double ceiling, String... agents) {
    return new Tenant(weight, ceiling, List.of(agents), List.of(), List.of(), null, null);
  }

  /** A request to be changed before it is sent. */
  static Ask ask(String id, String agent, long input) {
    return new Ask(
        EngineContext.QUOTA, id, agent, input, null, "worker", "batch", null, null, null, 0, null);
  }

  record Ask(
      String quota,
      String id,
      String agent,
      long input,
      String task,
      String role,
      String leaseClass,
      String retryOf,
      Integer unblocks,
      String tenant,
      long cached,
      Long cacheEndsAtMs) {

    Ask in(String other) {
      return new Ask(
          other,
          id,
          agent,
          input,
          task,
          role,
          leaseClass,
          retryOf,
          unblocks,
          tenant,
          cached,
          cacheEndsAtMs);
    }

    Ask task(String name) {
      return new Ask(
          quota,
          id,
          agent,
          input,
          name,
          role,
          leaseClass,
          retryOf,
          unblocks,
          tenant,
          cached,
          cacheEndsAtMs);
    }

    Ask role(String name) {
      return new Ask(
          quota,
          id,
          agent,
          input,
          task,
          name,
          leaseClass,
          retryOf,
          unblocks,
          tenant,
          cached,
          cacheEndsAtMs);
    }

    Ask interactive() {
      return new Ask(
          quota,
          id,
          agent,
          input,
          task,
          role,
          "interactive",
          retryOf,
          unblocks,
          tenant,
          cached,
          cacheEndsAtMs);
    }

    Ask retryOf(String before) {
      return new Ask(
          quota,
          id,
          agent,
          input,
          task,
          role,
          leaseClass,
          before,
          unblocks,
          tenant,
          cached,
          cacheEndsAtMs);
    }

    Ask unblocks(int tasks) {
      return new Ask(
          quota,
          id,
          agent,
          input,
          task,
          role,
          leaseClass,
          retryOf,
          tasks,
          tenant,
          cached,
          cacheEndsAtMs);
    }

    Ask tenant(String name) {
      return new Ask(
          quota,
          id,
          agent,
          input,
          task,
          role,
          leaseClass,
          retryOf,
          unblocks,
          name,
          cached,
          cacheEndsAtMs);
    }

    Ask cached(long tokens, long endsAtMs) {
      return new Ask(
          quota,
          id,
          agent,
          input,
          task,
          role,
          leaseClass,
          retryOf,
          unblocks,
          tenant,
          tokens,
          endsAtMs);
    }

    List<Event> of(EngineContext context) {
      return context.ask(
          new LeaseRequest(
              id,
              agent,
              quota,
              task,
              role,
              leaseClass,
              retryOf,
              0,
              unblocks,
              new Estimate(input, cached, cacheEndsAtMs, 0L, ""),
              tenant,
              context.nowMs + 80_000_000,
              null,
              null));
    }
  }

  /** Ids of requests in the order in which they were granted. */
  static List<String> granted(List<Event> events) {
    return events.stream()
        .filter(LeaseGranted.class::isInstance)
        .map(e -> ((LeaseGranted) e).requestId())
        .toList();
  }

  static LeaseRejected rejected(List<Event> events) {
    return EngineContext.only(events, LeaseRejected.class);
  }

  static Waiter waiter(EngineContext context, String quota, String id) {
    return context.engine.waiting(quota, 100_000).stream()
        .filter(w -> w.request().requestId().equals(id))
        .findFirst()
        .orElseThrow();
  }

  static Waiter waiter(EngineContext context, String id) {
    return waiter(context, EngineContext.QUOTA, id);
  }
}
