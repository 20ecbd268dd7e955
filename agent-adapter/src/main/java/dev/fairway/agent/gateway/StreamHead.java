package dev.fairway.agent.gateway;

import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ProviderStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/**
 * The beginning of a stream of events, until it says whether there will be an answer: a provider
 * that has sent its 200 can refuse a call only inside of it, with an event before all others.
 *
 * <p>Nothing waits for that. What tells nothing of the answer, comments and pings, may go on at
 * once; an event that is whole decides; and a part of one, which is of no use to any client, is
 * held for {@value #PART_MS} ms, or until there are {@value #BYTES_MAX} bytes. Then the answer has
 * begun, and what was held is read from here first. Used by the call's invoker until that is told,
 * and by who reads it afterwards.
 */
final class StreamHead implements Content.Source {
  static final int BYTES_MAX = 64 * 1024;
  static final long PART_MS = 50;

  /** Hears what the stream begins with; by the call's invoker. */
  interface Listener {
    /** Something that is no part of an answer: it may go on, and nothing is decided by it. */
    void nothingYet(ByteBuffer bytes);

    /**
     * The call was refused before anything of its answer came.
     *
     * @return whether it is made again, so that the rest of this stream is of no use; else the
     *     answer begins with that
     */
    boolean refused(ProviderReading reading);

    /** The answer begins, and is to be read from here. */
    void begun();
  }

  private final Content.Source source;
  private final ProviderStream stream;
  private final Scheduler scheduler;
  private final SerializedInvoker invoker;
  private final Listener listener;
  private final Deque<Content.Chunk> held = new ArrayDeque<>();
  private byte[] copy = new byte[1024];
  private int heldBytes;
  private boolean decided;
  private Scheduler.Task late;
  private boolean demanded;
  private Runnable next;

  /**
   * Nothing is read yet.
   *
   * @param stream reads what comes, apart from whoever reads the answer
   */
  StreamHead(
      Content.Source source,
      ProviderStream stream,
      Scheduler scheduler,
      SerializedInvoker invoker,
      Listener listener) {
    this.source = source;
    this.stream = stream;
    this.scheduler = scheduler;
    this.invoker = invoker;
    this.listener = listener;
  }

  /** Reads on until it is decided. */
  void begin() {
    while (!decided) {
      Content.Chunk chunk = source.read();
      if (chunk == null) {
        waitForMore();
        return;
      }
      held.add(chunk);
      if (Content.Chunk.isFailure(chunk)) {
        decide();
        return;
      }
      look(chunk.getByteBuffer());
      ProviderReading refusal = stream.refusal();
      if (refusal != null && listener.refused(refusal)) {
        end(chunk.isLast());
      } else if (refusal != null
          || stream.contentBegun()
          || chunk.isLast()
          || heldBytes > BYTES_MAX) {
        decide();
      }
    }
  }

  private void look(ByteBuffer bytes) {
    int length = bytes.remaining();
    if (copy.length < length) {
      copy = new byte[length];
    }
    bytes.duplicate().get(copy, 0, length);
    stream.read(copy, 0, length);
    heldBytes += length;
  }

  /** All that there is for now was read. */
  private void waitForMore() {
    if (stream.begun()) {
      decide();
      return;
    }
    if (heldBytes > 0 && stream.isBetweenEvents()) {
      cancelLate();
      listener.nothingYet(ByteBuffer.wrap(takeHeld()));
    } else if (heldBytes > 0 && late == null) {
      late = scheduler.schedule(() -> invoker.run(this::decide), PART_MS, TimeUnit.MILLISECONDS);
    }
    synchronized (this) {
      demanded = true;
    }
    source.demand(this::onAvailable);
  }

  private void onAvailable() {
    Runnable reader;
    synchronized (this) {
      demanded = false;
      reader = next;
      next = null;
    }
    if (reader != null) {
      reader.run();
    } else {
      invoker.run(this::begin);
    }
  }

  private void decide() {
    if (!decided) {
      decided = true;
      cancelLate();
      listener.begun();
    }
  }

  private void end(boolean last) {
    decided = true;
    cancelLate();
    release();
    if (!last) {
      source.fail(new IOException("The call was refused inside of its answer"));
    }
  }

  private byte[] takeHeld() {
    byte[] bytes = new byte[heldBytes];
    ByteBuffer all = ByteBuffer.wrap(bytes);
    held.forEach(chunk -> all.put(chunk.getByteBuffer().duplicate()));
    release();
    return bytes;
  }

  private void release() {
    held.forEach(Content.Chunk::release);
    held.clear();
    heldBytes = 0;
  }

  private void cancelLate() {
    if (late != null) {
      late.cancel();
      late = null;
    }
  }

  // ---- for who reads the answer

  @Override
  public Content.Chunk read() {
    Content.Chunk first = held.poll();
    return first == null ? source.read() : first;
  }

  @Override
  public void demand(Runnable reader) {
    synchronized (this) {
      if (demanded) {
        next = reader; // More was asked for when it was not yet decided.
        return;
      }
    }
    source.demand(reader);
  }

  @Override
  public void fail(Throwable failure) {
    release();
    source.fail(failure);
  }

  @Override
  public long getLength() {
    return source.getLength();
  }
}
