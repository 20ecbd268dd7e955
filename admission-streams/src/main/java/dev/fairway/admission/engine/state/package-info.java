/** State of a key, the applier that alone changes it, and its durable rows. */
package dev.fairway.admission.engine.state;
