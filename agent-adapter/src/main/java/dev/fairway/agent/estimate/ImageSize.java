package dev.fairway.agent.estimate;

import java.util.Base64;

/**
 * Width and height of an image in pixels, and what providers count for it.
 *
 * @param width 1 or more
 * @param height 1 or more
 */
record ImageSize(int width, int height) {
  /** Base64 characters looked at: a JPEG's size may stand behind a preview. */
  private static final int LOOKED_AT_CHARS = 96 * 1024;

  private static final int SIDE_MAX = 100_000;
  private static final int ANTHROPIC_LONG_SIDE = 1_568;
  private static final double ANTHROPIC_PIXELS_PER_TOKEN = 750;
  private static final int OPENAI_LONG_SIDE = 2_048;
  private static final int OPENAI_SHORT_SIDE = 768;
  private static final int OPENAI_TILE = 512;
  private static final int OPENAI_BASE_TOKENS = 85;
  private static final int OPENAI_TILE_TOKENS = 170;

  /** The size in an image's head (PNG, GIF, JPEG, WebP), or null if it is not found there. */
  static ImageSize ofBase64(String base64) {
    int length = Math.min(base64.length(), LOOKED_AT_CHARS) / 4 * 4;
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(base64.substring(0, length));
    } catch (IllegalArgumentException e) {
      return null;
    }
    return new Head(bytes).size();
  }

  /** Anthropic's: scaled to a long side of 1568, a token for 750 pixels. */
  long anthropicTokens() {
    double scale = Math.min(1, (double) ANTHROPIC_LONG_SIDE / Math.max(width, height));
    double tokens = width * scale * height * scale / ANTHROPIC_PIXELS_PER_TOKEN;
    return Math.max(1, Math.round(Math.min(1_600, tokens)));
  }

  /** OpenAI's: scaled to 2048 by 2048, then to a short side of 768, in tiles of 512. */
  long openaiTokens() {
    double scale = Math.min(1, (double) OPENAI_LONG_SIDE / Math.max(width, height));
    scale *= Math.min(1, OPENAI_SHORT_SIDE / (Math.min(width, height) * scale));
    long tiles =
        (long) (Math.ceil(width * scale / OPENAI_TILE) * Math.ceil(height * scale / OPENAI_TILE));
    return OPENAI_BASE_TOKENS + OPENAI_TILE_TOKENS * tiles;
  }

  /** The beginning of an image. Reads beyond its end are 0, which is no size. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Head(byte[] bytes) {

    ImageSize size() {
      if (isAt(0, "\u0089PNG")) {
        return of(big(16, 4), big(20, 4));
      }
      if (isAt(0, "GIF8")) {
        return of(little(6, 2), little(8, 2));
      }
      if (isAt(0, "RIFF") && isAt(8, "WEBP")) {
        return webp();
      }
      return isAt(0, "\u00ff\u00d8\u00ff") ? jpeg() : null;
    }

    private ImageSize webp() {
      if (isAt(12, "VP8X")) {
        return of(little(24, 3) + 1, little(27, 3) + 1);
      }
      if (isAt(12, "VP8L")) {
        long bits = little(21, 4);
        return of((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
      }
      return isAt(12, "VP8 ") ? of(little(26, 2) & 0x3fff, little(28, 2) & 0x3fff) : null;
    }

    private ImageSize jpeg() {
      int at = 2;
      while (at + 9 < bytes.length && unsigned(at) == 0xff) {
        int marker = unsigned(at + 1);
        boolean frame =
            marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (frame) {
          return of(big(at + 7, 2), big(at + 5, 2));
        }
        at += 2 + (int) Math.max(2, big(at + 2, 2));
      }
      return null;
    }

    private static ImageSize of(long width, long height) {
      return width >= 1 && height >= 1 && width <= SIDE_MAX && height <= SIDE_MAX
          ? new ImageSize((int) width, (int) height)
          : null;
    }

    private boolean isAt(int offset, String magic) {
      for (int i = 0; i < magic.length(); i++) {
        if (unsigned(offset + i) != magic.charAt(i)) {
          return false;
        }
      }
      return true;
    }

    private long big(int offset, int length) {
      long value = 0;
      for (int i = 0; i < length; i++) {
        value = value << 8 | unsigned(offset + i);
      }
      return value;
    }

    private long little(int offset, int length) {
      long value = 0;
      for (int i = length - 1; i >= 0; i--) {
        value = value << 8 | unsigned(offset + i);
      }
      return value;
    }

    private int unsigned(int offset) {
      return offset < bytes.length ? bytes[offset] & 0xff : 0;
    }
  }
}
