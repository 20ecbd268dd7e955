package dev.fairway.cli;

import java.util.List;
import picocli.CommandLine.Command;

/** {@code fairway queue}: the requests that wait. */
@Command(
    name = "queue",
    description = "The requests that wait, in the order in which they will be served.",
    footer = {"", "Example:", "  fairway queue --quota anthropic.prod-1/sonnet --watch"})
final class QueueCommand extends ListingCommand {

  static final List<Column> COLUMNS =
      List.of(
          new Column("QUOTA", "quota"),
          new Column("POSITION", "position"),
          new Column("REQUEST", "request"),
          new Column("AGENT", "agent"),
          new Column("ROLE", "role"),
          new Column("ATTEMPT", "attempt"),
          new Column("WAITED", "waited_ms", Shown.LENGTH),
          new Column("WAIT TOLD LAST", "told_eta_ms", Shown.WAIT),
          new Column("WAITS FOR", "waits_for", Shown.WAITS_FOR),
          new Column("DEADLINE", "deadline_ms", Shown.TIME),
          new Column("ESTIMATE", "estimate", Shown.AMOUNTS));

  QueueCommand() {
    super("/queue", "queue", "nobody waits", COLUMNS);
  }
}
