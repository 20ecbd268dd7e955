package dev.fairway.agent.provider;

/**
 * How one provider says what it has left, what went wrong and what a call used. Profiles are pure:
 * no clock, no state. They are total: no answer makes them throw, and none makes them say a
 * negative or an absurd wait. What an answer does not say, or says unreadably, is null.
 * Thread-safe. Get one from {@link ProviderProfiles}.
 */
public interface ProviderProfile {

  /** The provider's name in definitions, such as {@code anthropic}. */
  String name();

  /** Reads an answer that is no stream. */
  ProviderReading read(ProviderResponse response);

  /**
   * Starts to read an answer that is a stream of server-sent events.
   *
   * @param head status, headers and time of the answer, without a body
   */
  ProviderStream stream(ProviderResponse head);
}
