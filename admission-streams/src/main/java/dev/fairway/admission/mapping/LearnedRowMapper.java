package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.learn.ErrorTrend;
import dev.fairway.admission.engine.learn.RoleStats;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.schemas.AgentRow;
import dev.fairway.schemas.AlertRow;
import dev.fairway.schemas.OutputsRow;
import dev.fairway.schemas.RoleRow;
import java.util.List;

/** Rows of what is learned of a quota's calls, and of its alerts, both ways. Thread-safe. */
final class LearnedRowMapper {
  private LearnedRowMapper() {}

  static Row toEngine(Object row) {
    if (row instanceof RoleRow r) {
      RoleStats stats =
          new RoleStats(
              r.getCalls(),
              r.getSquaredError(),
              r.getBias(),
              r.getBiasCalls(),
              r.getMeanInput(),
              r.getTasks(),
              r.getCallsPerTask(),
              r.getEtas(),
              r.getEtaFactor(),
              new ErrorTrend(r.getMeanError(), r.getErrorAboveSinceMs()),
              r.getTouchedAtMs());
      return new Row.RoleRow(
          r.getQuota(), r.getRole(), stats, r.getOutputs(), List.copyOf(r.getRecentOutputs()));
    }
    if (row instanceof OutputsRow r) {
      return new Row.OutputsRow(
          r.getQuota(), r.getRole(), r.getChunk(), List.copyOf(r.getOutputs()));
    }
    if (row instanceof AgentRow r) {
      return new Row.AgentRow(
          r.getQuota(),
          r.getAgentId(),
          new ErrorTrend(r.getMeanError(), r.getErrorAboveSinceMs()),
          r.getCacheUnread(),
          r.getTouchedAtMs());
    }
    if (row instanceof AlertRow r) {
      return new Row.AlertRow(
          r.getQuota(), AlertKind.valueOf(r.getKind()), r.getSubject(), r.getRaisedAtMs());
    }
    throw new IllegalArgumentException("Expected a state row but found " + row);
  }

  static Object toAvro(Row row) {
    if (row instanceof Row.RoleRow r) {
      RoleStats s = r.stats();
      return new RoleRow(
          r.quotaId(),
          r.role(),
          s.calls(),
          s.squaredError(),
          s.bias(),
          s.biasCalls(),
          s.meanInput(),
          s.tasks(),
          s.callsPerTask(),
          s.etas(),
          s.etaFactor(),
          s.estimates().meanError(),
          s.estimates().aboveSinceMs(),
          s.touchedAtMs(),
          r.outputs(),
          r.recentOutputs());
    }
    if (row instanceof Row.OutputsRow r) {
      return new OutputsRow(r.quotaId(), r.role(), r.chunk(), r.outputs());
    }
    if (row instanceof Row.AgentRow r) {
      return new AgentRow(
          r.quotaId(),
          r.agentId(),
          r.estimates().meanError(),
          r.estimates().aboveSinceMs(),
          r.touchedAtMs(),
          r.cacheUnread());
    }
    if (row instanceof Row.AlertRow r) {
      return new AlertRow(r.quotaId(), r.kind().name(), r.subject(), r.raisedAtMs());
    }
    throw new IllegalArgumentException("Expected a row but found " + row);
  }
}
