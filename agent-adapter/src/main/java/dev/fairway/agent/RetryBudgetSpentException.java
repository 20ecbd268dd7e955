package dev.fairway.agent;

/**
 * The call was tried as often as its {@link dev.fairway.agent.fallback.RetryBudget} allows. Nothing
 * was asked or taken. Don't try again: fail loudly.
 */
public final class RetryBudgetSpentException extends AdmissionException {
  private static final long serialVersionUID = 1L;

  RetryBudgetSpentException(String message) {
    super(message);
  }
}
