/**
 * What an orchestrator knows and the coordinator should: which task waits for which, and who runs
 * in circles. What others wait for is served first; what fails again and again the same way is not.
 */
package dev.fairway.agent.task;
