package dev.fairway.cli.demo.fleet;

import java.util.List;

/**
 * What one agent will do.
 *
 * @param agent its id
 * @param kind what it is, for people
 * @param startMs when its first turn starts
 * @param turns its turns in order
 */
public record AgentPlan(String agent, String kind, double startMs, List<Turn> turns) {

  public AgentPlan {
    turns = List.copyOf(turns);
  }
}
