/** What agents may use alone while the coordinator is silent. */
package dev.fairway.admission.engine.capacity;
