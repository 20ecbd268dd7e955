package dev.fairway.agent.provider;

import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The profiles, by the provider's name in a quota's definition. */
public final class ProviderProfiles {
  private static final ProviderProfile GENERIC = new GenericProfile();
  private static final Map<String, ProviderProfile> BY_NAME = byName();

  private ProviderProfiles() {}

  /**
   * The profile of a provider, whatever the name's case; of one without a profile of its own, and
   * of null, the generic one.
   */
  public static ProviderProfile of(String provider) {
    return provider == null
        ? GENERIC
        : BY_NAME.getOrDefault(provider.toLowerCase(Locale.ROOT), GENERIC);
  }

  /** The names that have a profile, in order; immutable. */
  public static Set<String> names() {
    return BY_NAME.keySet();
  }

  private static Map<String, ProviderProfile> byName() {
    Map<String, ProviderProfile> profiles = new TreeMap<>();
    for (ProviderProfile profile :
        new ProviderProfile[] {
          new AnthropicProfile(),
          new OpenAiProfile(),
          new AzureProfile(),
          new BedrockProfile(),
          new GeminiProfile("gemini"),
          new GeminiProfile("vertex"),
          new GroqProfile(),
          new MistralProfile(),
          new OpenRouterProfile(),
          new CerebrasProfile(),
          GENERIC
        }) {
      profiles.put(profile.name(), profile);
    }
    return Collections.unmodifiableMap(profiles);
  }
}
