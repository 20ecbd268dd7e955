package dev.fairway.cli;

import picocli.CommandLine.ITypeConverter;

/** A file to be written, or {@code -} for standard output. */
final class OutputTargetConverter implements ITypeConverter<String> {
  private final OutputFileConverter files = new OutputFileConverter();

  @Override
  public String convert(String value) {
    return value.equals("-") ? value : files.convert(value).toString();
  }
}
