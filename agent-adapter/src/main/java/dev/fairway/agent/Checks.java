package dev.fairway.agent;

import dev.fairway.schemas.Ids;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Pattern;

/** Checks of ids before a record leaves the process, with errors for people. */
final class Checks {
  private static final Pattern HTTP = Pattern.compile("(?i)https?://");
  private static final Pattern BROKER = Pattern.compile("\\S*[^\\s:]\\S*:[0-9]{1,5}");

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

  /**
   * Brokers as Kafka takes them, {@code host:port} by commas; Kafka's own errors come late and name
   * no setting of a client.
   */
  static void bootstrapServers(String servers) {
    boolean any = false;
    for (String server : servers == null ? new String[0] : servers.split(",")) {
      String address = server.strip();
      any |= !address.isEmpty();
      if (HTTP.matcher(address).lookingAt()) {
        throw new IllegalArgumentException(
            "Expected bootstrapServers with Kafka brokers as host:port, but found the URL "
                + shownAddress(address)
                + ". A schema registry's URL is the second argument of AdmissionClientConfig.of.");
      }
      if (!address.isEmpty() && !BROKER.matcher(address).matches()) {
        throw new IllegalArgumentException(
            "Expected bootstrapServers with Kafka brokers as host:port, such as 127.0.0.1:9092, but"
                + " found "
                + shownAddress(address)
                + ".");
      }
    }
    if (!any) {
      throw new IllegalArgumentException(
          "Expected bootstrapServers with an address, but found " + shown(servers) + ".");
    }
  }

  /** Base URLs of a schema registry, by commas. */
  static void registryUrl(String urls) {
    if (urls == null || urls.isBlank()) {
      throw new IllegalArgumentException(
          "Expected registryUrl with an address, but found " + shown(urls) + ".");
    }
    for (String url : urls.split(",")) {
      if (!url.isBlank() && !isHttp(url.strip())) {
        throw new IllegalArgumentException(
            "Expected registryUrl with a URL such as http://127.0.0.1:8081, but found "
                + shownAddress(url.strip())
                + ". Kafka's host:port is the first argument of AdmissionClientConfig.of.");
      }
    }
  }

  private static boolean isHttp(String url) {
    try {
      return HTTP.matcher(url).lookingAt() && new URI(url).getHost() != null;
    } catch (URISyntaxException e) {
      return false;
    }
  }

  /** Without what stands before an @: that may be a password. */
  private static String shownAddress(String address) {
    return shown(address.substring(address.lastIndexOf('@') + 1));
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
