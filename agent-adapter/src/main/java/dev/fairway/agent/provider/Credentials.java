package dev.fairway.agent.provider;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Where credentials stand in a call: the one list of them, for all that must not keep them or pass
 * them on. Names count in any case, by what they end with, so that the next provider's are known as
 * well.
 */
public final class Credentials {
  /** {@code x-goog-api-key}, {@code ocp-apim-subscription-key}, {@code x-amz-security-token}. */
  private static final Pattern HEADER =
      Pattern.compile(
          "(?!.*page[-_]token$)(.*[-_])?(authorization|cookie2?|token|jwt|password|secret|credentials?|signature"
              + "|api[-_]?key|access[-_]?key([-_]id)?|auth[-_]?key|secret[-_]?key"
              + "|subscription[-_]?key|functions?[-_]?key)");

  /** {@code ?key=} of Gemini, {@code &sig=} and {@code X-Amz-Signature} of signed addresses. */
  private static final Pattern PARAMETER = Pattern.compile("(" + HEADER.pattern() + ")|key|sig");

  private static final Pattern USER_INFO =
      Pattern.compile("^([a-zA-Z][a-zA-Z0-9+.-]*:)?//[^/?#]*@.*");

  private Credentials() {}

  /** Whether a header of this name carries a credential. */
  public static boolean isHeader(String name) {
    return HEADER.matcher(name.toLowerCase(Locale.ROOT)).matches();
  }

  /** Whether a parameter of this name in an address carries a credential. */
  public static boolean isParameter(String name) {
    int index = name.indexOf('['); // key[]=, key[0]= and the like: lists, to whoever reads them so.
    String plain = index < 0 ? name : name.substring(0, index);
    return PARAMETER.matcher(plain.strip().toLowerCase(Locale.ROOT)).matches();
  }

  /**
   * The name of what carries a credential in an address or in a path with its query: of a
   * parameter, or {@code user:password@}; null if nothing does.
   */
  public static String inAddress(String address) {
    if (USER_INFO.matcher(address).matches()) {
      return "user:password@";
    }
    for (String parameter : parameters(address)) {
      if (isParameter(nameOf(parameter))) {
        return nameOf(parameter);
      }
    }
    return null;
  }

  /** A path with its query, without the parameters that carry credentials. */
  public static String withoutParameters(String pathAndQuery) {
    int question = pathAndQuery.indexOf('?');
    if (question < 0 || inAddress(pathAndQuery) == null) {
      return pathAndQuery;
    }
    StringBuilder kept = new StringBuilder();
    for (String parameter : parameters(pathAndQuery)) {
      if (!isParameter(nameOf(parameter))) {
        kept.append(kept.isEmpty() ? '?' : '&').append(parameter);
      }
    }
    return kept.insert(0, pathAndQuery.substring(0, question)).toString();
  }

  private static String[] parameters(String address) {
    int question = address.indexOf('?');
    return question < 0 ? new String[0] : address.substring(question + 1).split("[&;#]", -1);
  }

  private static String nameOf(String parameter) {
    int equals = parameter.indexOf('=');
    String name = equals < 0 ? parameter : parameter.substring(0, equals);
    try {
      return URLDecoder.decode(name, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return name; // Nobody could read it as another one.
    }
  }
}
