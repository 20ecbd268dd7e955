package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.OpaqueBytes;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.schemas.Limits;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Values that several records share. */
final class Values {
  private Values() {}

  static Amounts amounts(dev.fairway.schemas.Amounts from) {
    return from == null
        ? null
        : amounts(
            from.getRequests(),
            from.getInputTokens(),
            from.getOutputTokens(),
            from.getTokens(),
            from.getConcurrentRequests());
  }

  static dev.fairway.schemas.Amounts amounts(Amounts from) {
    return from == null
        ? null
        : new dev.fairway.schemas.Amounts(
            from.orNull(Dimension.REQUESTS),
            from.orNull(Dimension.INPUT_TOKENS),
            from.orNull(Dimension.OUTPUT_TOKENS),
            from.orNull(Dimension.TOKENS),
            from.orNull(Dimension.CONCURRENT_REQUESTS));
  }

  static Amounts limits(Limits from) {
    return amounts(
        from.getRequestsPerMinute(),
        from.getInputTokensPerMinute(),
        from.getOutputTokensPerMinute(),
        from.getTokensPerMinute(),
        from.getConcurrentRequests());
  }

  static Limits limits(Amounts from) {
    return new Limits(
        from.orNull(Dimension.REQUESTS),
        from.orNull(Dimension.INPUT_TOKENS),
        from.orNull(Dimension.OUTPUT_TOKENS),
        from.orNull(Dimension.TOKENS),
        from.orNull(Dimension.CONCURRENT_REQUESTS));
  }

  private static Amounts amounts(
      Long requests, Long input, Long output, Long tokens, Long concurrent) {
    Amounts result = Amounts.NONE;
    result = with(result, Dimension.REQUESTS, requests);
    result = with(result, Dimension.INPUT_TOKENS, input);
    result = with(result, Dimension.OUTPUT_TOKENS, output);
    result = with(result, Dimension.TOKENS, tokens);
    return with(result, Dimension.CONCURRENT_REQUESTS, concurrent);
  }

  private static Amounts with(Amounts amounts, Dimension dimension, Long value) {
    return value == null ? amounts : amounts.with(dimension, value);
  }

  static OpaqueBytes bytes(ByteBuffer from) {
    if (from == null) {
      return null;
    }
    byte[] copy = new byte[from.remaining()];
    from.duplicate().get(copy);
    return new OpaqueBytes(copy);
  }

  static ByteBuffer bytes(OpaqueBytes from) {
    return from == null ? null : ByteBuffer.wrap(from.toArray());
  }

  /** The dimension of that name in a record that the coordinator itself wrote. */
  static Dimension dimension(String name) {
    Dimension dimension = Dimension.byWireName(name);
    if (dimension == null) {
      throw new IllegalArgumentException(
          "Expected the name of a dimension in a record of the coordinator but found '"
              + name
              + "'; it was written by a newer version, or is damaged");
    }
    return dimension;
  }

  /** The symbol of the same name; null stays null. */
  static <A extends Enum<A>, B extends Enum<B>> B symbol(A from, Class<B> type) {
    return from == null ? null : Enum.valueOf(type, from.name());
  }

  static <A, B> List<B> list(List<A> from, Function<A, B> mapper) {
    List<B> result = new ArrayList<>(from.size());
    for (A item : from) {
      result.add(mapper.apply(item));
    }
    return Collections.unmodifiableList(result);
  }

  /** In order of keys, so that equal maps are equal bytes. */
  static <A, B> Map<String, B> map(Map<String, A> from, Function<A, B> mapper) {
    Map<String, B> result = new TreeMap<>();
    from.forEach((name, value) -> result.put(name, mapper.apply(value)));
    return Collections.unmodifiableMap(result);
  }
}
