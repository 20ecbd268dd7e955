package dev.fairway.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What {@code fairway --version} prints. */
final class FairwayVersion implements IVersionProvider {

  FairwayVersion() {}

  @Override
  public String[] getVersion() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = FairwayVersion.class.getResourceAsStream("/fairway-version.properties")) {
      properties.load(in);
    }
    return new String[] {"fairway " + properties.getProperty("version")};
  }
}
