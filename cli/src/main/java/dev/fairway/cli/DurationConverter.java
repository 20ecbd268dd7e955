package dev.fairway.cli;

import dev.fairway.replay.script.Durations;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Durations on the command line, written as in the YAML files: {@code 500ms}, {@code 90s}, {@code
 * 3m}, {@code 1h30m}.
 */
final class DurationConverter implements ITypeConverter<Duration> {

  DurationConverter() {}

  @Override
  public Duration convert(String text) {
    Long ms = Durations.parseMs(text);
    if (ms == null) {
      throw new TypeConversionException(
          "expected a duration such as 500ms, 90s, 3m or 1h30m, but found '" + text + "'");
    }
    return Duration.ofMillis(ms);
  }
}
