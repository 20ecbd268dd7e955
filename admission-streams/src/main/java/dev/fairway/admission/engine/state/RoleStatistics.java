package dev.fairway.admission.engine.state;

/** What is learned of the roles of a key. */
public interface RoleStatistics {

  /** Mean input tokens of a call of that role, or null while none was settled. */
  Double meanInputPerCall(String role);

  /** Mean calls of a finished task of that role, or null while none finished. */
  Double callsPerTask(String role);
}
