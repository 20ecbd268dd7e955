/** What becomes of one request: identity, charges, answers and settlements. */
package dev.fairway.admission.engine.lease;
