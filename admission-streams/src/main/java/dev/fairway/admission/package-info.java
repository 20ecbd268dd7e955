/**
 * The coordinator as a service: configuration, start and stop, health, metrics, and what holds now.
 */
package dev.fairway.admission;
