package dev.fairway.cli;

import picocli.CommandLine.ITypeConverter;

/** A file that a command will write, or {@code -} for standard output. */
final class OutputTargetConverter implements ITypeConverter<String> {

  private final OutputFileConverter files = new OutputFileConverter();

  OutputTargetConverter() {}

  @Override
  public String convert(String text) {
    return text.equals("-") ? text : files.convert(text).toString();
  }
}
