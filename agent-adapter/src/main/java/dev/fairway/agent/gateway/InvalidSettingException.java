package dev.fairway.agent.gateway;

import dev.fairway.schemas.service.ShownText;

/**
 * A setting of a gateway is not what it should be. Of its value the message shows what {@link
 * ShownText} shows: it may be a secret that stands in the wrong place.
 */
public final class InvalidSettingException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final String setting;

  InvalidSettingException(String setting, String message) {
    super(ShownText.of(message));
    this.setting = setting;
  }

  /**
   * Which one: its name in a configuration file, below that of what is made, such as {@code
   * body_bytes} of the bounds or {@code callers[1].token} of the whole.
   */
  public String setting() {
    return setting;
  }
}
