package dev.fairway.cli.demo;

import dev.fairway.cli.demo.fleet.FleetPlan;

final class EmbeddedPipeline {
  static AdmissionSide start(FleetPlan plan, FleetLimits limits) {
    throw new UnsupportedOperationException();
  }
}
