/**
 * A schema registry inside the process: the part of Confluent's REST API that its Java, Python and
 * JavaScript clients use, for one node on the loopback interface, with ids that survive a crash.
 */
package dev.fairway.cli.registry;
