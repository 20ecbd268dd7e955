package dev.fairway.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Time between two repetitions: not so short that asking is all that is done. */
final class PeriodConverter implements ITypeConverter<Duration> {

  private static final Duration SHORTEST = Duration.ofMillis(100);
  private static final Duration LONGEST = Duration.ofHours(24);

  PeriodConverter() {}

  @Override
  public Duration convert(String text) {
    Duration period = new DurationConverter().convert(text);
    if (period.compareTo(SHORTEST) < 0 || period.compareTo(LONGEST) > 0) {
      throw new TypeConversionException(
          "expected a duration of 100ms to 24h, but found '" + text + "'");
    }
    return period;
  }
}
