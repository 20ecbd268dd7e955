/**
 * An HTTP server that stands in for a provider: it speaks enough of Anthropic's Messages API,
 * enforces limits of its own, and writes down every call it saw.
 *
 * <p>It is the other side of the demo and of the crash tests, so it shares no class with the
 * admission engine: a limit that is checked with the code under test proves nothing.
 */
package dev.fairway.cli.demo.emulator;
