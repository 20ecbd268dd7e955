package dev.fairway.cli;

import dev.fairway.cli.demo.fleet.Backoff;
import java.util.Arrays;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a backoff by the name that reports show. */
final class BackoffConverter implements ITypeConverter<Backoff> {

  @Override
  public Backoff convert(String text) {
    return Arrays.stream(Backoff.values())
        .filter(backoff -> backoff.toString().equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "expected one of "
                        + Arrays.toString(Backoff.values())
                        + ", but found '"
                        + text
                        + "'"));
  }
}
