package dev.fairway.agent;

import java.util.regex.Pattern;

/** Grammar of the ids that an agent writes, checked before a record leaves the process. */
final class Ids {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9._:-]+");
  private static final Pattern QUOTA =
      Pattern.compile("[A-Za-z0-9._-]{1,100}(/[A-Za-z0-9._-]{1,100})?");

  /** Longest id of agents, tasks, tenants and roles. */
  static final int ID_LENGTH_MAX = 100;

  /** Longest request id. */
  static final int REQUEST_ID_LENGTH_MAX = 64;

  private Ids() {}

  /** An id of an agent, task, tenant or role. */
  static String check(String what, String id) {
    return check(what, id, ID_LENGTH_MAX);
  }

  /** An id of a request. */
  static String checkRequestId(String what, String id) {
    return check(what, id, REQUEST_ID_LENGTH_MAX);
  }

  /** A quota id: {@code key} or {@code key/name}. */
  static String checkQuota(String quota) {
    if (quota == null || !QUOTA.matcher(quota).matches()) {
      throw new IllegalArgumentException(
          "Expected a quota id `key` or `key/name`, each of 1 to 100 characters A-Z a-z 0-9 . _ -,"
              + " but found "
              + shown(quota)
              + ". `fairway quota list` shows the ids that exist.");
    }
    return quota;
  }

  private static String check(String what, String id, int lengthMax) {
    if (id == null || id.length() > lengthMax || !ID.matcher(id).matches()) {
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
