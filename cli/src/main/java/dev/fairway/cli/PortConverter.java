package dev.fairway.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A TCP port, or 0 where the command chooses one. */
final class PortConverter implements ITypeConverter<Integer> {

  private static final int PORT_MAX = 65_535;

  PortConverter() {}

  @Override
  public Integer convert(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port >= 0 && port <= PORT_MAX) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Told below, like a number out of range.
    }
    throw new TypeConversionException(
        "expected a port from 1 to "
            + PORT_MAX
            + ", or 0 to have one chosen, but found '"
            + text
            + "'");
  }
}
