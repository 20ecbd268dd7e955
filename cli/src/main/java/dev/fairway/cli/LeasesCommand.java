package dev.fairway.cli;

import picocli.CommandLine.Command;

/** {@code fairway leases}: the open leases. */
@Command(
    name = "leases",
    description = "The open leases, in order of grant.",
    footer = {"", "Example:", "  fairway leases --quota anthropic.prod-1/sonnet --watch"})
final class LeasesCommand extends ListingCommand {

  LeasesCommand() {
    super("/leases", "leases", "no open leases");
  }
}
