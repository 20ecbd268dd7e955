/** What the engine learns from settled calls: errors, outputs, waits. Pure arithmetic. */
package dev.fairway.admission.engine.learn;
