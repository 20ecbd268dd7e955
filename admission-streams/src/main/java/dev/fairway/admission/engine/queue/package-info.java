/** The order of admission: tags, the fair queue, ETAs, the drain, and departures. */
package dev.fairway.admission.engine.queue;
