package dev.fairway.cli;

import picocli.CommandLine.Command;

/** {@code fairway queue}: the requests that wait. */
@Command(
    name = "queue",
    description = "The requests that wait, in the order in which they will be served.",
    footer = {"", "Example:", "  fairway queue --quota anthropic.prod-1/sonnet --watch"})
final class QueueCommand extends ListingCommand {

  QueueCommand() {
    super("/queue", "queue", "nobody waits");
  }
}
