package dev.fairway.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Where a dead letter stands, {@code partition:offset}; leading zeros are dropped. */
final class PlaceConverter implements ITypeConverter<String> {

  private static final Pattern PLACE = Pattern.compile("0*([0-9]{1,9}):0*([0-9]{1,18})");

  PlaceConverter() {}

  @Override
  public String convert(String text) {
    Matcher matcher = PLACE.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "expected a place such as 0:17 (partition:offset, as 'dead-letters list' shows it), but"
              + " found '"
              + text
              + "'");
    }
    return matcher.group(1) + ":" + matcher.group(2);
  }
}
