/**
 * The Kafka Streams topology that feeds the engine and makes its decisions durable.
 *
 * <p>One task owns one partition, one engine and one changelogged store of its rows. A record's
 * journal entry, its rows and its offset commit in one transaction, or not at all.
 *
 * <p>The store is in memory: the engine keeps the same state on the heap anyway, both are rebuilt
 * from the changelog, and under exactly-once a store on disk is rebuilt from there too after
 * anything but a clean stop.
 */
package dev.fairway.admission.topology;
