/**
 * {@code fairway demo}: the same fleet against an emulated provider, without admission and with it,
 * over the real pipeline.
 */
package dev.fairway.cli.demo;
