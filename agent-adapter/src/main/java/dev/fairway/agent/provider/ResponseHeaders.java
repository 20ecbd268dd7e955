package dev.fairway.agent.provider;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Headers of one answer, found by name whatever its case. Immutable. At most {@value #COUNT_MAX}
 * are kept, and of them those whose name and value are at most {@value #LENGTH_MAX} characters
 * long; others are as if absent. Of several with one name the first counts.
 */
public final class ResponseHeaders {
  static final int COUNT_MAX = 256;
  static final int LENGTH_MAX = 1_024;

  private static final ResponseHeaders NONE = new ResponseHeaders(Map.of());

  /** In the order in which they came, so that what is read does not depend on chance. */
  private final Map<String, String> byName;

  private ResponseHeaders(Map<String, String> byName) {
    this.byName = byName;
  }

  /** No headers. */
  public static ResponseHeaders none() {
    return NONE;
  }

  /** Headers by name; null names and values are left out. */
  public static ResponseHeaders of(Map<String, String> headers) {
    Builder builder = builder();
    headers.forEach(builder::add);
    return builder.build();
  }

  /** Starts with no headers. */
  public static Builder builder() {
    return new Builder();
  }

  /** The value without surrounding blanks, or null if absent. The name in lower case. */
  String get(String lowerCaseName) {
    return byName.get(lowerCaseName);
  }

  void forEach(BiConsumer<String, String> action) {
    byName.forEach(action);
  }

  /** These, and those of the others that are not here. */
  ResponseHeaders orElse(ResponseHeaders others) {
    if (others.byName.isEmpty()) {
      return this;
    }
    Builder builder = new Builder();
    byName.forEach(builder::add);
    others.byName.forEach(builder::add);
    return builder.build();
  }

  /** These without what says how long to wait. */
  ResponseHeaders withoutRetryAfter() {
    Map<String, String> others = new LinkedHashMap<>(byName);
    others.remove("retry-after");
    others.remove("retry-after-ms");
    return new ResponseHeaders(others);
  }

  /** Collects headers in their order. Not thread-safe. */
  public static final class Builder {
    private final Map<String, String> byName = new LinkedHashMap<>();

    private Builder() {}

    /** Adds a header, unless it is past a bound or its name is there already. */
    public Builder add(String name, String value) {
      if (name != null
          && value != null
          && name.length() <= LENGTH_MAX
          && value.length() <= LENGTH_MAX
          && byName.size() < COUNT_MAX) {
        byName.putIfAbsent(name.strip().toLowerCase(Locale.ROOT), value.strip());
      }
      return this;
    }

    /** The headers. */
    public ResponseHeaders build() {
      return new ResponseHeaders(new LinkedHashMap<>(byName));
    }
  }
}
