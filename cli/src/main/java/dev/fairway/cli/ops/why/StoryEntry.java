package dev.fairway.cli.ops.why;

/**
 * One thing that happened to a request, or to its quota while it waited.
 *
 * @param atMs when, epoch milliseconds of the coordinator
 * @param kind short name such as {@code granted}, for programs
 * @param text for people
 */
public record StoryEntry(long atMs, String kind, String text) {}
