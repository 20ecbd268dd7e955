package dev.fairway.agent.estimate;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;

/**
 * What is in a body as base64, counted as what it is and never as text: images by their size, PDFs
 * by their pages, audio by how long it is, what is encrypted by its bytes.
 */
final class BinaryTokens {
  /** Shorter strings are names, ids and the like. */
  static final int CHARS_MIN = 256;

  /** An image of a size that cannot be seen (by URL, or of another format) is a large one. */
  private static final int UNSEEN_IMAGE = 1_600;

  private static final int LOW_DETAIL_IMAGE = 85;

  /** A page of a document is read as its text and as an image. */
  private static final int DOCUMENT_PAGE = 2_500;

  /** Base64 characters of a usual page, where pages cannot be counted. */
  private static final int DOCUMENT_PAGE_CHARS = 60_000;

  /** More than any provider takes. */
  private static final long DOCUMENT_PAGES_MAX = 3_000;

  /** Half a minute, where nobody knows. */
  private static final int UNSEEN_AUDIO_S = 30;

  /** OpenAI's: a token for 100 ms. */
  private static final int AUDIO_TOKENS_PER_S = 10;

  /** Speech at 64 kbit/s, as is usual for MP3 and its like. */
  private static final int AUDIO_BYTES_PER_S = 8_000;

  private static final int PCM16_BYTES_PER_S = 48_000;
  private static final int WAV_BYTES_PER_S = 32_000;
  private static final int WAV_HEAD_BYTES = 44;
  private static final int VIDEO_BYTES_PER_S = 125_000;
  private static final int VIDEO_TOKENS_PER_S = 300;

  /**
   * What is encrypted (thinking that is redacted or not told, results of searches) is text that
   * nobody here can read: a token for four of its bytes.
   */
  private static final int ENCRYPTED_BYTES_PER_TOKEN = 4;

  private static final String DATA = "data:";
  private static final String IS_BASE64 = ";base64,";
  private static final int HEAD_CHARS_MAX = 200;

  /**
   * Tokens of some data.
   *
   * @param known false where it is a guess
   */
  record Count(long tokens, boolean known) {}

  private BinaryTokens() {}

  /**
   * Tokens of a string that is base64, as a data URL or by itself; null where it is text.
   *
   * @param kind what it is said to be: types of its block, its medium, its format
   */
  static Count of(String string, String kind, boolean anthropic) {
    boolean url = isDataUrl(string);
    if (!url && !isBase64(string)) {
      return null;
    }
    String said =
        (url ? kind + " " + string.substring(0, string.indexOf(IS_BASE64)) : kind)
            .toLowerCase(Locale.ROOT);
    String base64 = withoutHead(string);
    // "UklGR" is RIFF, which WebP is as well; "JVBERi" is %PDF.
    if (said.contains("image") || ImageSize.ofBase64(base64) != null) {
      return image(base64, "", anthropic);
    }
    if (said.contains("pdf") || base64.startsWith("JVBERi")) {
      return document(base64);
    }
    if (said.contains("video")) {
      return guess(bytes(base64) * VIDEO_TOKENS_PER_S / VIDEO_BYTES_PER_S);
    }
    if (said.contains("audio") || base64.startsWith("UklGR")) {
      return audio(base64, said);
    }
    return encrypted(base64);
  }

  /** An image; what is no base64 of one is one that is not seen. */
  static Count image(String base64, String detail, boolean anthropic) {
    if (detail.equals("low")) {
      return new Count(LOW_DETAIL_IMAGE, true);
    }
    ImageSize size = ImageSize.ofBase64(base64);
    if (size == null) {
      return guess(UNSEEN_IMAGE);
    }
    return new Count(anthropic ? size.anthropicTokens() : size.openaiTokens(), true);
  }

  /** A document by its pages, else by its size; one that is not seen has a page. */
  static Count document(String base64) {
    long pages = PdfPages.of(base64);
    pages = pages > 0 ? pages : base64.length() / DOCUMENT_PAGE_CHARS;
    return guess(Math.min(DOCUMENT_PAGES_MAX, Math.max(1, pages)) * DOCUMENT_PAGE);
  }

  /** Audio that the provider keeps. */
  static Count unseenAudio() {
    return guess(UNSEEN_AUDIO_S * AUDIO_TOKENS_PER_S);
  }

  /** What nobody here can read. */
  static Count encrypted(String base64) {
    return guess(bytes(base64) / ENCRYPTED_BYTES_PER_TOKEN);
  }

  /** The text that a data URL has in base64, or null if that is none. */
  static String plainText(String string) {
    if (!isDataUrl(string) || !string.startsWith(DATA + "text/")) {
      return null;
    }
    try {
      return new String(Base64.getDecoder().decode(withoutHead(string)), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** The base64 of a data URL; anything else as it is. */
  static String withoutHead(String string) {
    return isDataUrl(string)
        ? string.substring(string.indexOf(IS_BASE64) + IS_BASE64.length())
        : string;
  }

  private static Count audio(String base64, String said) {
    int perSecond = AUDIO_BYTES_PER_S;
    if (said.contains("wav") || base64.startsWith("UklGR")) {
      perSecond = wavBytesPerSecond(base64);
    } else if (said.contains("pcm")) {
      perSecond = PCM16_BYTES_PER_S;
    }
    return guess(bytes(base64) * AUDIO_TOKENS_PER_S / perSecond);
  }

  /** As its head says, if it is one. */
  private static int wavBytesPerSecond(String base64) {
    if (!base64.startsWith("UklGR") || base64.length() < 2 * WAV_HEAD_BYTES) {
      return WAV_BYTES_PER_S;
    }
    try {
      byte[] head = Base64.getDecoder().decode(base64.substring(0, WAV_HEAD_BYTES / 3 * 4));
      int perSecond =
          head[28] & 0xff
              | (head[29] & 0xff) << 8
              | (head[30] & 0xff) << 16
              | (head[31] & 0xff) << 24;
      return perSecond > 0 ? perSecond : WAV_BYTES_PER_S;
    } catch (IllegalArgumentException e) {
      return WAV_BYTES_PER_S;
    }
  }

  private static Count guess(long tokens) {
    return new Count(Math.max(1, tokens), false);
  }

  private static long bytes(String base64) {
    return base64.length() * 3L / 4;
  }

  private static boolean isDataUrl(String string) {
    if (!string.startsWith(DATA)) {
      return false;
    }
    int head = string.indexOf(IS_BASE64);
    return head > 0 && head < HEAD_CHARS_MAX;
  }

  private static boolean isBase64(String string) {
    if (string.length() < CHARS_MIN) {
      return false;
    }
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      boolean letter = c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9';
      if (!letter && c != '+' && c != '/' && c != '-' && c != '_' && c != '=') {
        return false;
      }
    }
    return true;
  }
}
