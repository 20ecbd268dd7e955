/** Conditions that people should know of, raised and cleared as events. */
package dev.fairway.admission.engine.alert;
