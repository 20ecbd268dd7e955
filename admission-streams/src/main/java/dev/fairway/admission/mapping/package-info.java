/**
 * Translation between the Avro records of {@code dev.fairway.schemas} and the engine's commands,
 * events and rows.
 *
 * <p>Mapping only translates: whether a number or an id makes sense is the engine's to say. It is
 * total over what the Avro schemas allow, loses nothing that the engine reads, and writes the same
 * value always as the same bytes (maps in order of their keys).
 */
package dev.fairway.admission.mapping;
