package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.OrderPolicy.TenantPolicy;
import java.util.List;
import java.util.Map;

/**
 * What a request claims to be, as far as it may. The tenant comes from the agent's id; one that is
 * claimed counts only where its patterns let the agent in. Role and class count as the tenant
 * allows: another role weighs the least, another class is batch.
 *
 * @param tenant tenant that it is served under
 * @param role role that weighs
 * @param leaseClass class whose reserve it may use
 */
public record Claims(String tenant, String role, String leaseClass) {
  /** Role of who claims one that it may not have; no weight is configured for it. */
  static final String NO_ROLE = "not-allowed";

  /** The claims of a request. */
  public static Claims of(OrderPolicy order, LeaseRequest request) {
    String tenant = tenantOf(order, request.agentId(), request.tenant());
    TenantPolicy policy = order.tenant(tenant);
    return new Claims(
        tenant,
        allowed(policy.roles(), request.role()) ? request.role() : NO_ROLE,
        allowed(policy.classes(), request.leaseClass())
            ? request.leaseClass()
            : OrderPolicy.DEFAULT_CLASS);
  }

  private static boolean allowed(List<String> names, String name) {
    return names.isEmpty() || names.contains(name);
  }

  /**
   * The tenant claimed if it lets the agent in, else the one with the most particular pattern that
   * matches the agent's id, else the default. A tenant without patterns is there for whoever no
   * pattern binds: else a claim of it would leave any ceiling behind.
   */
  public static String tenantOf(OrderPolicy order, String agentId, String claimed) {
    String bound = boundTo(order, agentId);
    if (claimed != null && order.tenants().containsKey(claimed)) {
      List<String> patterns = order.tenants().get(claimed).agents();
      boolean free = patterns.isEmpty() && bound == null;
      if (free || patterns.stream().anyMatch(p -> matches(p, agentId))) {
        return claimed;
      }
    }
    return bound == null ? OrderPolicy.DEFAULT_TENANT : bound;
  }

  /** The tenant with the most particular pattern that matches an agent's id, or null. */
  private static String boundTo(OrderPolicy order, String agentId) {
    String best = null;
    int longest = -1;
    for (Map.Entry<String, TenantPolicy> tenant : order.tenants().entrySet()) {
      for (String pattern : tenant.getValue().agents()) {
        int letters = pattern.length() - (int) pattern.chars().filter(c -> c == '*').count();
        if (letters > longest && matches(pattern, agentId)) {
          best = tenant.getKey();
          longest = letters;
        }
      }
    }
    return best;
  }

  /** Whether a pattern, in which * stands for any run of characters, is that id. */
  static boolean matches(String pattern, String id) {
    int p = 0;
    int i = 0;
    int star = -1;
    int from = 0;
    while (i < id.length()) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        from = i;
      } else if (p < pattern.length() && pattern.charAt(p) == id.charAt(i)) {
        p++;
        i++;
      } else if (star >= 0) {
        p = star + 1;
        i = ++from;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }
}
