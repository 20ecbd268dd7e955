package dev.fairway.cli.ops;

import dev.fairway.agent.gateway.ModeStore;
import dev.fairway.cli.CliException;
import dev.fairway.schemas.AgentRegistration;
import java.util.Map;
import java.util.TreeMap;

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

  /**
   * Switches what gateways with this id do with a quota's calls; the rest of the registration
   * stays.
   *
   * @param mode name of a gateway's mode; null: what each gateway's configuration says
   * @return the registration as it is now
   * @throws CliException if no gateway is registered under this id, or too many quotas are switched
   */
  public AgentRegistration switchMode(String id, String quota, String mode) {
    AgentRegistration known = all().get(id);
    if (known == null || !known.getMembers()) {
      throw new CliException(
          "Expected the id of a gateway, but no agent '"
              + id
              + "' is registered with members. See 'fairway agent list'.");
    }
    Map<String, String> modes = new TreeMap<>(known.getGatewayModes());
    if (mode == null) {
      modes.remove(quota);
    } else {
      modes.put(quota, mode);
    }
    if (modes.size() > ModeStore.QUOTAS_MAX) {
      throw new CliException(
          "Expected at most "
              + ModeStore.QUOTAS_MAX
              + " quotas that were switched, but found more.");
    }
    AgentRegistration changed = AgentRegistration.newBuilder(known).setGatewayModes(modes).build();
    put(changed);
    return changed;
  }

  /** Whether gateways with this id were told what to do with a quota's calls. */
  public boolean isSwitched(String id, String quota) {
    AgentRegistration known = all().get(id);
    return known != null && known.getGatewayModes().containsKey(quota);
  }

  /** Retires an agent: its decisions are delivered no more. */
  public void retire(String agentId) {
    pipeline.send(pipeline.topics().agents(), agentId, null);
  }
}
