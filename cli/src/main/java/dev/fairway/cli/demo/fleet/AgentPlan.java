package dev.fairway.cli.demo.fleet;

import java.util.List;

/**
 * What one agent will do.
 *
 * @param agent its id
 * @param kind what it is, for people
 * @param group its group, from 0
 * @param stage where it stands in the group's work
 * @param startMs when it may begin its first task
 * @param turns its turns in order
 */
public record AgentPlan(
    String agent, String kind, int group, Stage stage, double startMs, List<Turn> turns) {

  public AgentPlan {
    turns = List.copyOf(turns);
  }
}
