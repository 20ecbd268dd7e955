package dev.fairway.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How many of something, at least one. */
final class CountConverter implements ITypeConverter<Integer> {

  CountConverter() {}

  @Override
  public Integer convert(String text) {
    try {
      int count = Integer.parseInt(text);
      if (count > 0) {
        return count;
      }
    } catch (NumberFormatException e) {
      // Told below, like a number that is too small.
    }
    throw new TypeConversionException(
        "expected a whole number from 1 to " + Integer.MAX_VALUE + ", but found '" + text + "'");
  }
}
