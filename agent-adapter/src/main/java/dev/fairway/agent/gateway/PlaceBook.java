package dev.fairway.agent.gateway;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Calls by their idempotency keys, so that a client that comes back with the same key gets its
 * place back, or the answer that it missed, and the provider one call in all.
 *
 * <p>{@value #CALLS_MAX} calls under way have one; beyond, a call with a new key is refused. Of
 * {@value #ENDED_MAX} that went well it is known that they were made; beyond, the oldest is
 * forgotten, and its key is a new one. {@value #ANSWERS_BYTES_MAX} bytes of answers are kept;
 * beyond, the oldest answers go, and who comes back for one of those is told so. Thread-safe.
 */
final class PlaceBook implements Recording.Room {
  static final int CALLS_MAX = 2_000;
  static final int ENDED_MAX = 20_000;
  static final long ANSWERS_BYTES_MAX = 128L << 20;
  static final int KEY_LENGTH_MAX = 255;

  /** Whose key it is, and the key. */
  record Key(String caller, String key) {}

  /** What a key stands for. */
  interface Place {
    /** A client comes back with the key. */
    void join(Request request, Response response, Callback callback, CallPlan again);

    /** The gateway stops. */
    default void drain() {}
  }

  private final Map<Key, Place> underWay = new HashMap<>();
  private final Map<Key, EndedCall> ended = new LinkedHashMap<>();
  private final Set<Recording> kept = new LinkedHashSet<>(); // Those of ended calls, by their ends.
  private final ByteBudget answers;

  PlaceBook() {
    this(ANSWERS_BYTES_MAX);
  }

  PlaceBook(long answersBytesMax) {
    this.answers = new ByteBudget(answersBytesMax);
  }

  /** Whether this may be a key. */
  static boolean isKey(String key) {
    return key != null && !key.isBlank() && key.length() <= KEY_LENGTH_MAX;
  }

  /**
   * What this key stands for; the new call if it stood for nothing, which is kept under it from now
   * on; null if there is no room for it.
   */
  synchronized Place findOrKeep(Key key, Place made) {
    Place known = underWay.get(key);
    known = known == null ? ended.get(key) : known;
    if (known != null) {
      return known;
    }
    if (underWay.size() >= CALLS_MAX) {
      return null;
    }
    underWay.put(key, made);
    return made;
  }

  /** A call failed, or was given up: its key stands for nothing any more. */
  synchronized void remove(Key key, Place call) {
    underWay.remove(key, call);
  }

  /** A call went well. */
  synchronized void ended(Key key, Place call, EndedCall left) {
    if (underWay.remove(key, call)) {
      ended.put(key, left);
      if (left.recording().lost() == null) {
        kept.add(left.recording());
      }
      if (ended.size() > ENDED_MAX) {
        Map.Entry<Key, EndedCall> oldest = ended.entrySet().iterator().next();
        forget(oldest.getKey(), oldest.getValue());
      }
    }
  }

  /** Forgets a call that went well. */
  synchronized void forget(Key key, EndedCall call) {
    if (ended.remove(key, call)) {
      kept.remove(call.recording());
      call.recording().drop();
    }
  }

  @Override
  public boolean take(long bytes) {
    while (!answers.take(bytes)) {
      Recording oldest = oldestKept();
      if (oldest == null) {
        return false;
      }
      oldest.drop();
    }
    return true;
  }

  private synchronized Recording oldestKept() {
    Iterator<Recording> oldest = kept.iterator();
    if (!oldest.hasNext()) {
      return null;
    }
    Recording found = oldest.next();
    oldest.remove();
    return found;
  }

  @Override
  public void give(long bytes) {
    answers.give(bytes);
  }

  /** Bytes of answers that are kept. */
  long keptBytes() {
    return answers.taken();
  }

  /** Tells every call that the gateway stops. */
  void drain() {
    List<Place> all;
    synchronized (this) {
      all = List.copyOf(underWay.values());
    }
    all.forEach(Place::drain);
  }
}
