/** Balances, amounts and exact integer arithmetic. */
package dev.fairway.admission.engine.bucket;
