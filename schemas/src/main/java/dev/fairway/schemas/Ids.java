package dev.fairway.schemas;

/**
 * The grammar of the protocol's names. Every check answers false for {@code null} and never throws.
 */
public final class Ids {

  /** Most characters of a key, of the name part of a quota id, and of an id. */
  public static final int MAX_LENGTH = 100;

  /** Most characters of a request id. */
  public static final int MAX_REQUEST_ID_LENGTH = 64;

  private static final char SEPARATOR = '/';

  private Ids() {}

  /** Whether this is the alias of a provider API key: {@code [A-Za-z0-9._-]{1,100}}. */
  public static boolean isKey(String value) {
    return value != null && isWord(value, 0, value.length(), MAX_LENGTH, false);
  }

  /** Whether this is a quota id: {@code key} or {@code key/name}, both in the grammar of a key. */
  public static boolean isQuotaId(String value) {
    if (value == null) {
      return false;
    }
    int slash = value.indexOf(SEPARATOR);
    return slash < 0
        ? isKey(value)
        : isWord(value, 0, slash, MAX_LENGTH, false)
            && isWord(value, slash + 1, value.length(), MAX_LENGTH, false);
  }

  /** Whether this is the id of an agent, task, tenant or role: {@code [A-Za-z0-9._:-]{1,100}}. */
  public static boolean isId(String value) {
    return value != null && isWord(value, 0, value.length(), MAX_LENGTH, true);
  }

  /** Whether this is a request id: {@code [A-Za-z0-9._:-]{1,64}}. */
  public static boolean isRequestId(String value) {
    return value != null && isWord(value, 0, value.length(), MAX_REQUEST_ID_LENGTH, true);
  }

  /**
   * The key of a quota id: the part before the first slash, or the whole id if it has none.
   *
   * @param quotaId not null; its grammar is not checked
   */
  public static String keyOf(String quotaId) {
    int slash = quotaId.indexOf(SEPARATOR);
    return slash < 0 ? quotaId : quotaId.substring(0, slash);
  }

  private static boolean isWord(String value, int from, int to, int maxLength, boolean colon) {
    if (to == from || to - from > maxLength) {
      return false;
    }
    for (int i = from; i < to; i++) {
      char c = value.charAt(i);
      boolean allowed =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || c == '.'
              || c == '_'
              || c == '-'
              || (c == ':' && colon);
      if (!allowed) {
        return false;
      }
    }
    return true;
  }
}
