/**
 * Kafka serializer and deserializer of the Confluent wire format (0x00, schema id as 4 bytes
 * big-endian, Avro binary), and the client of the schema registry behind them. Settings carry the
 * names that Confluent's own serializers use, so either can stand in for the other by class name
 * alone.
 */
package dev.fairway.schemas.serde;
