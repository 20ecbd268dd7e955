package dev.fairway.cli.up;

import dev.fairway.cli.CliException;
import dev.fairway.cli.demo.emulator.Ledger;
import dev.fairway.cli.demo.emulator.ModelSpeed;
import dev.fairway.cli.demo.emulator.ProviderEmulator;
import dev.fairway.cli.demo.emulator.ProviderLimits;
import dev.fairway.schemas.Limits;
import java.io.IOException;

/** The provider of {@code fairway up} where it has neither a configuration nor a key. */
final class EmulatedProvider {

  private EmulatedProvider() {}

  /**
   * Starts it on any free port of loopback, with the limits of the demo quota.
   *
   * @throws CliException if it cannot be started, with a message for people
   */
  static ProviderEmulator start() {
    Limits limits = QuotaSetup.DEMO.getLimits();
    try {
      return ProviderEmulator.start(
          0,
          ProviderLimits.full(
              limits.getRequestsPerMinute(),
              limits.getInputTokensPerMinute(),
              limits.getOutputTokensPerMinute()),
          ModelSpeed.REAL,
          Ledger.none());
    } catch (IOException e) {
      throw new CliException("The emulated provider did not start. " + e.getMessage(), e);
    }
  }
}
