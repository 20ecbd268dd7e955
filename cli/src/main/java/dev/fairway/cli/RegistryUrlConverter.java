package dev.fairway.cli;

import dev.fairway.schemas.serde.RegistrySettings;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The base URLs of a schema registry, several by comma; kept as they were written. */
final class RegistryUrlConverter implements ITypeConverter<String> {

  RegistryUrlConverter() {}

  @Override
  public String convert(String text) {
    try {
      RegistrySettings.of(text);
      return text;
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(
          "expected a URL such as http://127.0.0.1:8081, but found '" + text + "'");
    }
  }
}
