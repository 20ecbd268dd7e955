package dev.fairway.cli;

import java.util.List;
import picocli.CommandLine.Command;

/** {@code fairway leases}: the open leases. */
@Command(
    name = "leases",
    description = "The open leases, in order of grant.",
    footer = {"", "Example:", "  fairway leases --quota anthropic.prod-1/sonnet --watch"})
final class LeasesCommand extends ListingCommand {

  static final List<Column> COLUMNS =
      List.of(
          new Column("QUOTA", "quota"),
          new Column("LEASE", "lease"),
          new Column("REQUEST", "request"),
          new Column("AGENT", "agent"),
          new Column("ROLE", "role"),
          new Column("ATTEMPT", "attempt"),
          new Column("GRANTED", "granted_at_ms", Shown.TIME),
          new Column("EXPIRES", "expires_at_ms", Shown.TIME),
          new Column("CHARGED", "charged", Shown.AMOUNTS));

  LeasesCommand() {
    super("/leases", "leases", "no open leases", COLUMNS);
  }
}
