/**
 * The demo's result as one HTML file: inline SVG and CSS, nothing fetched. 429s are laid over the
 * turns of the agents that caused and suffered them.
 */
package dev.fairway.cli.demo.page;
