package dev.fairway.cli;

import java.net.URI;
import java.net.URISyntaxException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The base URL of a server. */
final class HttpUrlConverter implements ITypeConverter<URI> {

  HttpUrlConverter() {}

  @Override
  public URI convert(String text) {
    try {
      URI uri = new URI(text);
      if (uri.getHost() != null && uri.getScheme().matches("https?")) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // Told below, like a URL of another kind.
    }
    throw new TypeConversionException(
        "expected a URL such as http://127.0.0.1:8090, but found '" + text + "'");
  }
}
