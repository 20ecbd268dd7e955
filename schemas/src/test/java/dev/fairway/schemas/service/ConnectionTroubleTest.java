package dev.fairway.schemas.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ConnectionTroubleTest {

  @Test
  void shouldSayWhyNobodyAnsweredInWords() {
    assertThat(ConnectionTrouble.of(new ConnectException())).isEqualTo("nobody listens there");
    assertThat(ConnectionTrouble.of(new IOException(new UnresolvedAddressException())))
        .isEqualTo("there is no such host");
    assertThat(ConnectionTrouble.of(new TimeoutException())).isEqualTo("no answer in time");
    assertThat(ConnectionTrouble.of(new HttpConnectTimeoutException("x")))
        .isEqualTo("no answer in time");
    assertThat(ConnectionTrouble.of(new EOFException())).isEqualTo("the connection was closed");
    assertThat(ConnectionTrouble.of(new IOException("too much"))).isEqualTo("too much");
    assertThat(ConnectionTrouble.of(new IOException()))
        .isEqualTo("the system gave no reason (IOException)");
  }
}
