package dev.fairway.agent.gateway;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.eclipse.jetty.client.ContentDecoder;
import org.eclipse.jetty.http.GZIPContentDecoder;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.RetainableByteBuffer;
import org.eclipse.jetty.io.content.ContentSourceTransformer;

/**
 * Unpacks answers of an upstream that compresses although it is asked not to: what they say has to
 * be read, and a client that did not ask for compression need not understand it.
 */
final class GzipAnswers extends ContentDecoder.Factory {

  /**
   * For answers of one encoding.
   *
   * @param encoding {@code gzip}, or {@code x-gzip}, which is another name of it
   */
  GzipAnswers(String encoding) {
    super(encoding);
  }

  @Override
  public Content.Source newDecoderContentSource(Content.Source packed) {
    return new Unpacked(packed);
  }

  private static final class Unpacked extends ContentSourceTransformer {
    private final GZIPContentDecoder decoder = new GZIPContentDecoder();
    private Content.Chunk packed;
    private boolean begun;

    Unpacked(Content.Source source) {
      super(source);
    }

    @Override
    protected Content.Chunk transform(Content.Chunk next) {
      if (next != null && packed == null) {
        if (Content.Chunk.isFailure(next)) {
          return next;
        }
        next.retain(); // Several chunks may come out of it, one a call.
        packed = next;
      }
      if (packed == null) {
        return null;
      }
      RetainableByteBuffer out;
      try {
        skipPadding(packed.getByteBuffer());
        begun |= packed.hasRemaining();
        out = packed.hasRemaining() ? decoder.decode(packed.getByteBuffer()) : null;
      } catch (RuntimeException e) {
        release();
        return Content.Chunk.from(
            new IOException("its answer says that it is compressed with gzip, but is not", e),
            true);
      }
      if (out != null && out.hasRemaining()) {
        return Content.Chunk.asChunk(out.getByteBuffer(), false, out);
      }
      if (out != null) {
        out.release();
      }
      return packed.hasRemaining() ? Content.Chunk.EMPTY : end();
    }

    /** Zeros behind what is whole fill up a block, and say nothing. */
    private void skipPadding(ByteBuffer bytes) {
      while (begun && decoder.isFinished() && bytes.hasRemaining() && peek(bytes) == 0) {
        bytes.get();
      }
    }

    private static byte peek(ByteBuffer bytes) {
      return bytes.get(bytes.position());
    }

    /** All that came is unpacked. */
    private Content.Chunk end() {
      boolean last = packed.isLast();
      release();
      if (!last) {
        return null;
      }
      return decoder.isFinished()
          ? Content.Chunk.EOF
          : Content.Chunk.from(new EOFException("A compressed answer broke off"), true);
    }

    @Override
    protected void release() {
      if (packed != null) {
        packed.release();
        packed = null;
      }
    }
  }
}
