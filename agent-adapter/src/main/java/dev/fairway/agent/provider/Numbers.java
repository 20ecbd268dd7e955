package dev.fairway.agent.provider;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.regex.Pattern;

/** Amounts and decimals as providers write them. What is no amount is null: -1, say, is unknown. */
final class Numbers {
  /** No limit and no usage is larger; above it a number is absurd, so unknown. */
  static final long AMOUNT_MAX = 1_000_000_000_000L;

  private static final int LENGTH_MAX = 40;
  private static final Pattern DECIMAL = Pattern.compile("\\+?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)");
  private static final BigDecimal LARGEST = BigDecimal.valueOf(AMOUNT_MAX);

  private Numbers() {}

  /** A decimal of 0 or more without an exponent, or null. */
  static BigDecimal decimal(String text) {
    if (text == null || text.length() > LENGTH_MAX || !DECIMAL.matcher(text).matches()) {
      return null;
    }
    return new BigDecimal(text);
  }

  /** An amount from 0 to {@link #AMOUNT_MAX}, rounded down, or null. */
  static Long amount(String text) {
    BigDecimal decimal = decimal(text);
    return decimal == null ? null : amount(decimal);
  }

  /** The same for a number of 0 or more. */
  static Long amount(BigDecimal number) {
    return number.compareTo(LARGEST) > 0
        ? null
        : (Long) number.setScale(0, RoundingMode.DOWN).longValueExact();
  }

  /** What one call used: an amount up to {@link ProviderUsage#TOKENS_MAX}, or null. */
  static Long tokens(String text) {
    return tokens(amount(text));
  }

  /** The same for a JSON value. */
  static Long tokens(JsonNode node) {
    return tokens(amount(node));
  }

  static Long tokens(Long amount) {
    return amount == null || amount > ProviderUsage.TOKENS_MAX ? null : amount;
  }

  /** An amount in a JSON value, which may be a number or a text that is one. */
  static Long amount(JsonNode node) {
    if (node.isTextual()) {
      return amount(node.textValue());
    }
    if (!node.isNumber() || !(node.doubleValue() >= 0 && node.doubleValue() <= AMOUNT_MAX)) {
      return null;
    }
    return node.longValue();
  }
}
