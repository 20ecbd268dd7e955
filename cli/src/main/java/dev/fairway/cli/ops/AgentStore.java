package dev.fairway.cli.ops;

import dev.fairway.schemas.AgentRegistration;
import java.util.Map;

/** The agents of a pipeline: the compacted topic that says where each agent's decisions go. */
public final class AgentStore {

  private final Pipeline pipeline;

  /** Works over this pipeline, which stays its owner's. */
  public AgentStore(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  /** All agents by id, sorted. */
  public Map<String, AgentRegistration> all() {
    return CompactedTable.read(pipeline, pipeline.topics().agents(), AgentRegistration.class);
  }

  /** Registers an agent, or registers it anew. */
  public void put(AgentRegistration agent) {
    pipeline.send(pipeline.topics().agents(), agent.getAgentId(), agent);
  }

  /** Retires an agent: its decisions are delivered no more. */
  public void retire(String agentId) {
    pipeline.send(pipeline.topics().agents(), agentId, null);
  }
}
