/**
 * What the programs that run beside Kafka have in common: where their settings come from, and how
 * they are started. It stands here because this is the one module that all of them see.
 */
package dev.fairway.schemas.service;
