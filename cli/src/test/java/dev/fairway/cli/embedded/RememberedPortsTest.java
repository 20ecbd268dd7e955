package dev.fairway.cli.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class RememberedPortsTest {

  @TempDir private Path folder;

  @Test
  void shouldNameTheOptionWhereTheAskedPortIsTaken() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> ports().choose("registry", taken.getLocalPort(), "--registry-port"))
          .hasMessageContaining(Integer.toString(taken.getLocalPort()))
          .hasMessageEndingWith("choose another port with --registry-port.");
    }
  }

  @Test
  void shouldTellThatTheRememberedPortIsTakenAndAnotherIsUsed() throws Exception {
    // given
    RememberedPorts first = ports();
    int port = first.choose("registry", 0, "--registry-port");
    first.save();
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.start();
    Logger log = (Logger) LoggerFactory.getLogger(RememberedPorts.class);
    log.addAppender(told);

    // when
    int other;
    try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      other = ports().choose("registry", 0, "--registry-port");
    } finally {
      log.detachAppender(told);
    }

    // then
    assertThat(other).isNotEqualTo(port);
    assertThat(told.list)
        .singleElement()
        .extracting(ILoggingEvent::getFormattedMessage)
        .asString()
        .contains(Integer.toString(port), Integer.toString(other), "--registry-port");
  }

  private RememberedPorts ports() {
    return RememberedPorts.read(folder.resolve("ports.properties"));
  }
}
