package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.OpaqueBytes;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;

/** What random records are made of: numbers, texts, ids, amounts, and lists and maps of things. */
class RandomScalars {
  private static final String ID_ALPHABET = "abcXYZ019._:-";

  final Random random;

  RandomScalars(Random random) {
    this.random = random;
  }

  final Amounts amounts() {
    Amounts result = Amounts.NONE;
    for (Dimension dimension : Dimension.values()) {
      if (random.nextBoolean()) {
        result = result.with(dimension, number());
      }
    }
    return result;
  }

  /** Small, large and extreme numbers alike. */
  final long number() {
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> Long.MAX_VALUE;
      case 2 -> Long.MIN_VALUE;
      case 3 -> random.nextInt(100_000);
      default -> random.nextLong();
    };
  }

  final String quotaId() {
    return random.nextBoolean() ? id() : id() + "/" + id();
  }

  final String id() {
    StringBuilder text = new StringBuilder();
    int length = 1 + random.nextInt(12);
    for (int i = 0; i < length; i++) {
      text.append(ID_ALPHABET.charAt(random.nextInt(ID_ALPHABET.length())));
    }
    return text.toString();
  }

  final String text() {
    return oneOf("", "anthropic", "\u00e9\u4e16\ud83d\ude00", "a \"quoted\"\nline");
  }

  final String hex(int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(Character.forDigit(random.nextInt(16), 16));
    }
    return text.toString();
  }

  final OpaqueBytes bytes() {
    byte[] bytes = new byte[random.nextInt(20)];
    random.nextBytes(bytes);
    return new OpaqueBytes(bytes);
  }

  final List<String> ids() {
    return list(this::id);
  }

  final <T> List<T> list(Supplier<T> item) {
    List<T> result = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      result.add(item.get());
    }
    return result;
  }

  final <T> Map<String, T> map(Supplier<T> value) {
    Map<String, T> result = new HashMap<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      result.put(id(), value.get());
    }
    return result;
  }

  final <T> T maybe(Supplier<T> value) {
    return random.nextBoolean() ? value.get() : null;
  }

  @SafeVarargs
  final <T> T oneOf(T... values) {
    return values[random.nextInt(values.length)];
  }
}
