/**
 * The demo's fleet: agents that think (a model call) and execute (tools) in a loop. The turns are
 * drawn before anything runs, so that the run without admission and the run with it do the same
 * work.
 */
package dev.fairway.cli.demo.fleet;
