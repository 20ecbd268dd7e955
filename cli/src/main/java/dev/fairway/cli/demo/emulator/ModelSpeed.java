package dev.fairway.cli.demo.emulator;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

/**
 * How long the emulated model takes: a time to the first token, drawn from an id so that the same
 * call takes the same time in every run, and then a steady stream of tokens.
 *
 * @param firstTokenMsMin shortest time to the first token
 * @param firstTokenMsMax longest time to the first token
 * @param tokensPerSecond output speed, above 0
 */
public record ModelSpeed(double firstTokenMsMin, double firstTokenMsMax, double tokensPerSecond) {

  /** Speed of the model world: 1 to 2 s to the first token, then 80 tokens a second. */
  public static final ModelSpeed REAL = new ModelSpeed(1000, 2000, 80);

  public ModelSpeed {
    if (!(firstTokenMsMin >= 0)
        || !(firstTokenMsMax >= firstTokenMsMin)
        || !(tokensPerSecond > 0)) {
      throw new IllegalArgumentException(
          "Expected 0 <= firstTokenMsMin <= firstTokenMsMax and tokensPerSecond > 0, but got "
              + firstTokenMsMin
              + ", "
              + firstTokenMsMax
              + ", "
              + tokensPerSecond);
    }
  }

  /** The same model, {@code factor} times as fast. */
  public ModelSpeed faster(double factor) {
    return new ModelSpeed(
        firstTokenMsMin / factor, firstTokenMsMax / factor, tokensPerSecond * factor);
  }

  /** Milliseconds to the first token of a call. */
  public double firstTokenMs(String id) {
    CRC32 crc = new CRC32();
    crc.update(id.getBytes(StandardCharsets.UTF_8));
    double share = new SplittableRandom(crc.getValue()).nextDouble();
    return firstTokenMsMin + share * (firstTokenMsMax - firstTokenMsMin);
  }

  /** Milliseconds from arrival to the end of a call. */
  public double callMs(String id, long outputTokens) {
    return firstTokenMs(id) + outputTokens / tokensPerSecond * 1000;
  }
}
