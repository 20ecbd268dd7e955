package dev.fairway.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.demo.fleet.AgentLog;
import dev.fairway.cli.demo.page.DemoPage;
import dev.fairway.cli.demo.page.DemoPage.Row;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A finished demo, as text, JSON and HTML. */
public final class DemoOutcome {
  private final DemoReport report;
  private final List<AgentLog> without;
  private final List<AgentLog> with;

  DemoOutcome(DemoReport report, List<AgentLog> without, List<AgentLog> with) {
    this.report = report;
    this.without = without;
    this.with = with;
  }

  /**
   * The numbers; their names are a contract.
   *
   * @param page where the page was written
   */
  public JsonNode json(Path page) {
    return report.toJson().put("page", page.toString());
  }

  /** Both runs side by side, line by line. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(report.subtitle());
    lines.add("");
    lines.add(line("", "without admission", "with admission"));
    for (Row row : report.rows()) {
      lines.add(line(row.name(), row.without(), row.with()));
    }
    return lines;
  }

  private static String line(String name, String without, String with) {
    return String.format(Locale.ROOT, "%-32s %18s %18s", name, without, with).stripTrailing();
  }

  /** The page of 429s on turns. */
  public String page() {
    return new DemoPage(
            report.subtitle(),
            report.plan().seconds(),
            report.rows(),
            report.definitions(),
            without,
            with)
        .render();
  }

  /** Whether every lease was settled; if not, something is broken. */
  public boolean leasesClosed() {
    return report.leases().closed();
  }
}
