/** What the gateway adds to a call: the same calls straight to the provider, and through it. */
package dev.fairway.benchmarks.gateway;
