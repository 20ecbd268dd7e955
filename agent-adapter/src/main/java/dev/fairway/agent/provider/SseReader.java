package dev.fairway.agent.provider;

import java.nio.charset.StandardCharsets;

/**
 * Cuts a stream of server-sent events from bytes as they come. No line and no event is kept, so
 * they may be of any length: data goes to a {@link JsonTreeReader} byte by byte, an event's name is
 * kept to {@value #NAME_MAX} bytes (a longer one is no known name), other fields and comments are
 * passed over.
 */
final class SseReader {
  /** Takes the events. */
  interface Events {

    /**
     * Whether the data of an event with that name is of interest. Asked before the data is read.
     *
     * @param name never null, empty without an {@code event} field
     */
    boolean wants(String name);

    /** An event whose data was not wanted. */
    void skipped(String name);

    /** An event with JSON data, read to its end. */
    void json(String name, JsonTreeReader data);

    /** An event whose data is no (whole) JSON. */
    void text(String name, String head);
  }

  static final int NAME_MAX = 128;

  private static final byte[] NEWLINE = {'\n'};
  private static final byte[] DATA = "data".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] EVENT = "event".getBytes(StandardCharsets.US_ASCII);
  private static final int BOM_LENGTH = 3;

  private enum State {
    FIELD,
    AFTER_COLON,
    DATA_VALUE,
    EVENT_VALUE,
    PASSED_OVER
  }

  private final Events events;
  private final ByteText field = new ByteText(8);
  private final ByteText eventName = new ByteText(NAME_MAX);
  private final ByteText head = new ByteText(16);
  private State state = State.FIELD;
  private boolean afterCarriageReturn;
  private int bomLength;
  private JsonTreeReader data;
  private boolean dataSeen;
  private boolean wanted;

  SseReader(Events events) {
    this.events = events;
  }

  /** Reads the next bytes. */
  void read(byte[] bytes, int offset, int length) {
    int end = offset + length;
    int i = offset;
    while (i < end) {
      if (state == State.DATA_VALUE || state == State.PASSED_OVER) {
        int from = i;
        while (i < end && bytes[i] != '\n' && bytes[i] != '\r') {
          i++;
        }
        if (state == State.DATA_VALUE) {
          value(bytes, from, i - from);
        }
        if (i == end) {
          return;
        }
      }
      one(bytes[i++]);
    }
  }

  /** Whether all that was read are whole events, comments and other lines that are none. */
  boolean isBetweenEvents() {
    return state == State.FIELD && field.length == 0 && !dataSeen && eventName.length == 0;
  }

  /** Ends the stream. An event that was not ended by an empty line counts if its data is whole. */
  void end() {
    if (state != State.FIELD || field.length > 0) {
      lineEnd();
    }
    dispatch();
  }

  private void one(byte b) {
    if (bomLength >= 0 && bomLength < BOM_LENGTH) {
      if (b == (byte) "\u00ef\u00bb\u00bf".charAt(bomLength)) {
        bomLength++;
        return;
      }
      bomLength = -1;
    }
    if (b == '\n' && afterCarriageReturn) {
      afterCarriageReturn = false;
      return;
    }
    afterCarriageReturn = b == '\r';
    if (b == '\n' || b == '\r') {
      lineEnd();
    } else if (state == State.FIELD && b == ':') {
      state = State.AFTER_COLON;
    } else if (state == State.FIELD) {
      field.add(b);
    } else if (state == State.AFTER_COLON) {
      startValue();
      if (b != ' ') {
        one(b);
      }
    } else if (state == State.EVENT_VALUE) {
      eventName.add(b);
    } else if (state == State.DATA_VALUE) {
      value(new byte[] {b}, 0, 1);
    }
  }

  private void startValue() {
    if (field.is(DATA)) {
      startData();
      state = State.DATA_VALUE;
    } else if (field.is(EVENT)) {
      eventName.clear();
      state = State.EVENT_VALUE;
    } else {
      state = State.PASSED_OVER;
    }
  }

  private void startData() {
    if (!dataSeen) {
      dataSeen = true;
      wanted = events.wants(eventName.toString());
      data = wanted ? new JsonTreeReader() : null;
    } else {
      // Further data lines continue the first one, on a new line.
      value(NEWLINE, 0, 1);
    }
  }

  private void value(byte[] bytes, int offset, int length) {
    if (wanted) {
      data.read(bytes, offset, length);
      for (int i = 0; i < length && !head.isFull(); i++) {
        head.add(bytes[offset + i]);
      }
    }
  }

  private void lineEnd() {
    if (state == State.AFTER_COLON) {
      startValue();
    } else if (state == State.FIELD && field.length == 0) {
      dispatch();
    } else if (state == State.FIELD && field.is(DATA)) {
      startData(); // A line without a colon is a field without a value.
    }
    field.clear();
    state = State.FIELD;
  }

  private void dispatch() {
    if (dataSeen) {
      String name = eventName.toString();
      if (!wanted) {
        events.skipped(name);
      } else if (data.end()) {
        events.json(name, data);
      } else {
        events.text(name, head.toString());
      }
    }
    dataSeen = false;
    wanted = false;
    data = null;
    eventName.clear();
    head.clear();
  }

  /** A short text from bytes; past its length it is full, and equal to nothing. */
  private static final class ByteText {
    private final byte[] bytes;
    private int length;

    ByteText(int lengthMax) {
      bytes = new byte[lengthMax];
    }

    void add(byte b) {
      if (length < bytes.length) {
        bytes[length] = b;
      }
      length = Math.min(length + 1, bytes.length + 1);
    }

    boolean isFull() {
      return length >= bytes.length;
    }

    boolean is(byte[] text) {
      if (length != text.length) {
        return false;
      }
      for (int i = 0; i < length; i++) {
        if (bytes[i] != text[i]) {
          return false;
        }
      }
      return true;
    }

    void clear() {
      length = 0;
    }

    @Override
    public String toString() {
      return new String(bytes, 0, Math.min(length, bytes.length), StandardCharsets.UTF_8);
    }
  }
}
