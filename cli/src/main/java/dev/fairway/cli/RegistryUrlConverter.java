package dev.fairway.cli;

import dev.fairway.schemas.serde.RegistrySettings;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The address of a schema registry; several by comma. */
final class RegistryUrlConverter implements ITypeConverter<String> {

  RegistryUrlConverter() {}

  @Override
  public String convert(String text) {
    try {
      RegistrySettings.of(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException("expected http(s)://HOST:PORT, but found '" + text + "'");
    }
    return text;
  }
}
