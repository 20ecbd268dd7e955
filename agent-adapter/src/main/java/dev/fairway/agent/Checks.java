package dev.fairway.agent;

import dev.fairway.schemas.Ids;

/** Checks of ids before a record leaves the process, with errors for people. */
final class Checks {
  private Checks() {}

  /** An id of an agent, task, tenant or role. */
  static String id(String what, String id) {
    return check(what, id, Ids.isId(id), Ids.MAX_LENGTH);
  }

  /** An id of a request. */
  static String requestId(String what, String id) {
    return check(what, id, Ids.isRequestId(id), Ids.MAX_REQUEST_ID_LENGTH);
  }

  /** A quota id: {@code key} or {@code key/name}. */
  static String quotaId(String quota) {
    if (!Ids.isQuotaId(quota)) {
      throw new IllegalArgumentException(
          "Expected a quota id `key` or `key/name`, each of 1 to "
              + Ids.MAX_LENGTH
              + " characters A-Z a-z 0-9 . _ -, but found "
              + shown(quota)
              + ". `fairway quota list` shows the ids that exist.");
    }
    return quota;
  }

  private static String check(String what, String id, boolean valid, int lengthMax) {
    if (!valid) {
      throw new IllegalArgumentException(
          "Expected "
              + what
              + " of 1 to "
              + lengthMax
              + " characters A-Z a-z 0-9 . _ : -, but found "
              + shown(id)
              + ".");
    }
    return id;
  }

  private static String shown(String value) {
    if (value == null) {
      return "null";
    }
    String cut = value.length() <= 120 ? value : value.substring(0, 120) + "...";
    return "\"" + cut + "\" (" + value.length() + " characters)";
  }
}
