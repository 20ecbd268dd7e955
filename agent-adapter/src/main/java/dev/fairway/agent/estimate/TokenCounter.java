package dev.fairway.agent.estimate;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.EncodingType;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Counts tokens of texts, and remembers the counts: a conversation brings all that was said before
 * with each turn. {@value #TEXTS_MAX} texts are remembered, as hashes; beyond, the one unused
 * longest is forgotten. Thread-safe.
 */
public final class TokenCounter {
  /** Texts whose counts are remembered. */
  public static final int TEXTS_MAX = 50_000;

  /** Longer texts are counted by samples, so that a huge body does not hold up the others. */
  public static final int COUNTED_CHARS_MAX = 256 * 1024;

  private static final int PIECE_CHARS = 8 * 1024;
  private static final int SAMPLES = 16;

  /** A tokenizer's vocabulary. */
  public enum Vocabulary {
    /** Of GPT-4 and its kin, and near enough to most others'. */
    CL100K(EncodingType.CL100K_BASE),
    /** Of GPT-4o and what came after. */
    O200K(EncodingType.O200K_BASE);

    private final EncodingType type;

    Vocabulary(EncodingType type) {
      this.type = type;
    }

    /** The vocabulary for a model's name. */
    public static Vocabulary of(String model) {
      String name = model.toLowerCase(Locale.ROOT);
      name = name.substring(name.lastIndexOf('/') + 1);
      boolean newer =
          name.startsWith("gpt-4o")
              || name.startsWith("gpt-4.1")
              || name.startsWith("gpt-4.5")
              || name.startsWith("gpt-5")
              || name.startsWith("gpt-oss")
              || name.startsWith("chatgpt-4o")
              || name.startsWith("codex")
              || name.matches("o[1-9].*");
      return newer ? O200K : CL100K;
    }

    @Override
    public String toString() {
      return type.getName();
    }
  }

  private record Key(Vocabulary vocabulary, int length, long hash) {}

  /** One for all: a vocabulary takes tens of megabytes, and a second to load. */
  private static final EncodingRegistry ENCODINGS = Encodings.newLazyEncodingRegistry();

  private final Map<Key, Integer> counts =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Integer> eldest) {
          return size() > TEXTS_MAX;
        }
      };

  /** Loads a vocabulary, unless it is there; takes a second or so. */
  public static void load(Vocabulary vocabulary) {
    Encoding unused = ENCODINGS.getEncoding(vocabulary.type);
  }

  /** Tokens of a text, 0 or more. */
  public int count(String text, Vocabulary vocabulary) {
    if (text.isEmpty()) {
      return 0;
    }
    Key key = new Key(vocabulary, text.length(), hash(text));
    synchronized (counts) {
      Integer known = counts.get(key);
      if (known != null) {
        return known;
      }
    }
    Encoding encoding = ENCODINGS.getEncoding(vocabulary.type);
    int count =
        text.length() <= COUNTED_CHARS_MAX ? whole(text, encoding) : sampled(text, encoding);
    synchronized (counts) {
      counts.put(key, count);
    }
    return count;
  }

  /** How many texts are remembered. */
  int remembered() {
    synchronized (counts) {
      return counts.size();
    }
  }

  /** In pieces: a word of a million letters would take a tokenizer for ever. */
  private static int whole(String text, Encoding encoding) {
    int count = 0;
    for (int from = 0; from < text.length(); from += PIECE_CHARS) {
      int to = Math.min(text.length(), from + PIECE_CHARS);
      count += encoding.countTokensOrdinary(text.substring(from, to));
    }
    return count;
  }

  private static int sampled(String text, Encoding encoding) {
    long count = 0;
    int stride = (text.length() - PIECE_CHARS) / (SAMPLES - 1);
    for (int i = 0; i < SAMPLES; i++) {
      count += encoding.countTokensOrdinary(text.substring(i * stride, i * stride + PIECE_CHARS));
    }
    return (int) Math.min(Integer.MAX_VALUE, count * text.length() / (SAMPLES * PIECE_CHARS));
  }

  private static long hash(String text) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
    }
    return hash;
  }
}
