/** How much of a limit is used: margin modes, AIMD, and resync from headers. */
package dev.fairway.admission.engine.margin;
