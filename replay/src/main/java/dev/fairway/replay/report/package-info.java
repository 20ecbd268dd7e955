/**
 * Pages and pictures of what a fleet went through: self-contained HTML with SVG, light and dark,
 * and PNG of the same drawings. Nothing here computes a result; it draws what it is given.
 */
package dev.fairway.replay.report;
