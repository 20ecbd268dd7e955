package dev.fairway.agent.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** An upstream that answers each request with bytes, whatever they are. */
final class RawUpstream implements AutoCloseable {
  /** How its connections end, once they do. */
  enum End {
    CLOSED,
    RESET
  }

  private static final long REPEAT_MS = 50;

  private final ServerSocket server;
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final Queue<Socket> open = new ConcurrentLinkedQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final byte[][] answers;

  /** What it says behind each answer, again and again, or null. */
  volatile String endless;

  /** The first request gets the first answer, and so on; all that come later get the last one. */
  RawUpstream(byte[]... answers) {
    this.answers = answers;
    try {
      server = new ServerSocket(0, 20, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    executor.execute(this::accept);
  }

  static RawUpstream of(String... answers) {
    byte[][] bytes = new byte[answers.length][];
    for (int i = 0; i < answers.length; i++) {
      bytes[i] = answers[i].getBytes(StandardCharsets.ISO_8859_1);
    }
    return new RawUpstream(bytes);
  }

  String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  private void accept() {
    for (int i = 0; ended.getCount() > 0; i++) {
      try {
        Socket socket = server.accept();
        open.add(socket);
        byte[] answer = answers[Math.min(i, answers.length - 1)];
        executor.execute(() -> serve(socket, answer));
      } catch (IOException e) {
        return; // Closed.
      }
    }
  }

  /** One answer a connection: what comes behind it is not answered. */
  private void serve(Socket socket, byte[] answer) {
    try {
      readRequest(socket.getInputStream());
      socket.getOutputStream().write(answer);
      while (endless != null && !ended.await(REPEAT_MS, TimeUnit.MILLISECONDS)) {
        socket.getOutputStream().write(endless.getBytes(StandardCharsets.ISO_8859_1));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      // The gateway had no use for the connection any more.
    }
  }

  private static void readRequest(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("no request");
      }
      head.append((char) next);
    }
    for (String line : head.toString().split("\r\n")) {
      if (line.toLowerCase(Locale.ROOT).startsWith("content-length: ")) {
        in.readNBytes(Integer.parseInt(line.substring(16).strip()));
      }
    }
  }

  /** Ends the connections that there are. */
  void end(End how) throws IOException {
    for (Socket socket = open.poll(); socket != null; socket = open.poll()) {
      if (how == End.RESET) {
        socket.setSoLinger(true, 0);
      }
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    ended.countDown();
    server.close();
    end(End.CLOSED);
    executor.shutdownNow();
  }
}
