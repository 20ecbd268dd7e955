package dev.fairway.schemas.service;

import java.io.EOFException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.TimeoutException;

/** Why another process gave no answer, in words: the JDK says it by the names of its classes. */
public final class ConnectionTrouble {

  private ConnectionTrouble() {}

  /** The trouble as the end of a sentence that names the address, without a full stop. */
  public static String of(Throwable error) {
    if (error instanceof UnknownHostException
        || error instanceof UnresolvedAddressException
        || error.getCause() instanceof UnresolvedAddressException) {
      return "there is no such host";
    }
    if (error instanceof ConnectException) {
      return "nobody listens there";
    }
    if (error instanceof TimeoutException
        || error instanceof HttpTimeoutException
        || error instanceof SocketTimeoutException) {
      return "no answer in time";
    }
    if (error instanceof EOFException || error instanceof ClosedChannelException) {
      return "the connection was closed";
    }
    String text = error.getMessage();
    return text == null || text.isBlank()
        ? "the system gave no reason (" + error.getClass().getSimpleName() + ")"
        : text;
  }
}
