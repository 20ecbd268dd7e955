package dev.fairway.cli.demo;

import dev.fairway.cli.demo.fleet.Admission;
import dev.fairway.cli.demo.fleet.AgentPlan;
import dev.fairway.cli.demo.fleet.FleetPlan;

/** All that stands between the fleet and the provider in the run with admission. */
interface AdmissionSide extends AutoCloseable {

  /** Starts one. */
  interface Factory {

    /**
     * Starts it for a fleet under these limits.
     *
     * @return when every agent can ask
     */
    AdmissionSide start(FleetPlan plan, FleetLimits limits) throws Exception;
  }

  /**
   * Defines the quota and waits until it holds, at the moment when the provider opens: a bucket
   * that is defined earlier refills earlier than the provider's.
   */
  void open();

  /** Where an agent asks. */
  Admission admissionOf(AgentPlan agent);

  /** Takes leave of all agents, waits until what they settled is journalled, and counts. */
  LeaseTally finish();

  @Override
  void close();
}
