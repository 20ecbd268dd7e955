package dev.fairway.cli.demo.fleet;

/** How an agent gets the model call of a turn done. */
interface Harness {

  /**
   * Does the model call of a turn, waiting and retrying as it sees fit.
   *
   * @return false if the run ended before the call had succeeded
   */
  boolean call(Turn turn) throws InterruptedException;
}
