package dev.fairway.agent.gateway;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Makes answers end so that their clients can tell a whole one from one that was cut. Where no
 * length says it, that are chunks. HTTP/1.0 has none: there the connection's end is the answer's,
 * so until the last byte is about to be written, whoever closes it resets it.
 */
final class OpenEnd {
  private final Response response;
  private final ReadAheadEndPoint endPoint; // Where ends have to be told apart; else null.

  OpenEnd(Response response) {
    this.response = response;
    var connection = response.getRequest().getConnectionMetaData();
    this.endPoint =
        connection.getHttpVersion() == HttpVersion.HTTP_1_0
                && connection.getConnection().getEndPoint() instanceof ReadAheadEndPoint ours
            ? ours
            : null;
  }

  /**
   * To be called once the head of an answer is set whose body comes in parts. The server would
   * choose chunks by itself, but not for a client that closes the connection.
   */
  void begin() {
    HttpFields.Mutable headers = response.getHeaders();
    if (!headers.contains(HttpHeader.CONTENT_LENGTH)) {
      headers.put(HttpHeader.TRANSFER_ENCODING, "chunked");
    }
  }

  /** Writes some of the body, or the last of it. */
  void write(boolean last, ByteBuffer bytes, Callback written) {
    if (endPoint != null) {
      endPoint.resetOnClose(!last);
    }
    response.write(last, bytes, written);
  }
}
