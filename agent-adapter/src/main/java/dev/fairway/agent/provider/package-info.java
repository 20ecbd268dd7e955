/**
 * How providers say what is left of a quota, what went wrong, and what a call used: pure parsers,
 * one small class a provider, each grammar in one place. What counts against a quota is decided
 * elsewhere, by the coordinator; here it is only read. Depends on the JDK and a JSON parser alone.
 */
package dev.fairway.agent.provider;
