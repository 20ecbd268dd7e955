package dev.fairway.agent.gateway;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.Callback;

/**
 * Keeps an answer for a client that comes back for it. Of an answer above {@value #BYTES_MAX}
 * bytes, or for which there is no room, nothing is kept but that it was there. Written by one
 * relay, read once that is done. Thread-safe.
 */
final class Recording {
  static final int BYTES_MAX = 4 << 20;

  /** Where bytes of answers are kept. */
  interface Room {
    /** Takes some; false if there is no room even without older answers. */
    boolean take(long bytes);

    /** Gives some back. */
    void give(long bytes);
  }

  private final Room room;
  private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private int status;
  private HttpFields headers;
  private boolean complete;
  private boolean failed;
  private String lost;

  Recording(Room room) {
    this.room = room;
  }

  /** The answer's head. */
  synchronized void begin(int answerStatus, HttpFields answerHeaders) {
    status = answerStatus;
    headers = answerHeaders;
  }

  /** Some of the body. */
  void add(ByteBuffer chunk, boolean last) {
    int length = chunk.remaining();
    // Not under this one's lock: room may be made of another recording.
    boolean taken = length == 0 || (fits(length) && room.take(length));
    synchronized (this) {
      complete |= last;
      if (bytes == null) {
        if (taken) {
          room.give(length);
        }
      } else if (taken) {
        byte[] copy = new byte[length];
        chunk.duplicate().get(copy);
        bytes.writeBytes(copy);
      } else {
        lose(
            bytes.size() + length > BYTES_MAX
                ? "is above the " + BYTES_MAX + " bytes that are kept of one"
                : "found no room beside those of other calls");
      }
    }
  }

  private synchronized boolean fits(int length) {
    return bytes != null && bytes.size() + length <= BYTES_MAX;
  }

  /** The call failed, though its answer came to its end: there is nothing to come back for. */
  synchronized void failed() {
    failed = true;
  }

  /** Whether all of the answer has passed, kept or not: the call was made, and went well. */
  synchronized boolean isComplete() {
    return complete && !failed;
  }

  /** Why the answer is not kept, after "its answer"; null if it is. */
  synchronized String lost() {
    return lost;
  }

  /** Gives a client the answer of a call that is over, or tells it why it cannot have it. */
  void replay(ClientAnswer answer) {
    byte[] body;
    synchronized (this) {
      body = isComplete() && bytes != null ? bytes.toByteArray() : null;
    }
    if (body != null) {
      answer.replay(status, headers, body);
    } else {
      answer.trouble(isComplete() ? Trouble.answerLost(lost()) : Trouble.keyHasFailed());
    }
  }

  /** Makes room; what is kept is that the answer was there. */
  synchronized void drop() {
    lose("had to make room for newer ones");
  }

  private void lose(String why) {
    if (bytes != null) {
      room.give(bytes.size());
      bytes = null;
      lost = why;
    }
  }

  /** Where a relay writes: here, and to the client for as long as there is one. */
  Content.Sink sink(ClientAnswer answer) {
    return (last, chunk, callback) -> {
      add(chunk, last);
      if (answer.isEnded()) {
        callback.succeeded();
        return;
      }
      answer
          .sink()
          .write(
              last,
              chunk,
              Callback.from(
                  callback::succeeded,
                  cause -> {
                    answer.abort(cause); // Also if somebody else took the client's place.
                    callback.succeeded();
                  }));
    };
  }
}
