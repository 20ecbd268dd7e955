/** Avro records, the Confluent wire format, topic names and the partitioner. */
package dev.fairway.schemas;
