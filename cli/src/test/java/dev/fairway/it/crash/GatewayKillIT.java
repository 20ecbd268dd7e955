package dev.fairway.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.TopicReader;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.SettleLease;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code kill -9} of {@code up} while calls stand in line at its gateway: nobody waits for them any
 * more, so the gateway that comes after gives them back, and whoever asks then is not kept waiting
 * for tokens that they hold.
 */
class GatewayKillIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int WAITING = 3;

  /** A grant for nobody would hold a minute's tokens for ten minutes. */
  private static final String CONFIG =
      """
      quotas:
        - id: ant/sonnet
          provider: anthropic
          models: ["claude-*"]
          limits: {requests_per_minute: 1000, input_tokens_per_minute: 6000, output_tokens_per_minute: 100000}
          level: {input_tokens: 0}
          margin: {start: 1.0}
          lease_ttl: 10m
          max_queue_wait: 10m
      gateway:
        upstreams: {anthropic: {provider: anthropic, url: "http://127.0.0.1:9"}}
      """;

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void shouldGiveBackWhatItsPredecessorHadInLine(@TempDir Path folder) throws Exception {
    Path config = Files.writeString(folder.resolve("fairway.yaml"), CONFIG);
    try (UpChild up = new UpChild(folder, config)) {
      // given: calls in line, none of which is granted before a quarter of a minute
      up.launch();
      up.awaitReady();
      for (int i = 0; i < WAITING; i++) {
        JsonNode queued = ask(up, "dead-" + i, 1_500, 0);
        assertThat(queued.path("status").asText()).as(queued.toString()).isEqualTo("QUEUED");
      }
      await().atMost(Duration.ofSeconds(20)).until(() -> requests(up, "dead-").size() == WAITING);
      List<String> dead = requests(up, "dead-");

      // when
      up.kill();
      up.launch();
      up.awaitReady();
      JsonNode living = ask(up, "living", 1_000, 60_000);

      // then: the one that asks now has its grant, and none of the dead holds anything
      await()
          .atMost(Duration.ofSeconds(90))
          .pollInterval(Duration.ofSeconds(1))
          .untilAsserted(() -> assertThat(givenBack(up)).containsAll(dead));
      assertThat(living.path("status").asText()).as(living.toString()).isEqualTo("GRANTED");
      assertThat(events(up, LeaseExpired.class)).isEmpty();
      settle(up, living); // a lease that is open is waited for when the gateway stops
      up.stop();
    }
  }

  private JsonNode ask(UpChild up, String agent, long tokens, long waitMs)
      throws IOException, InterruptedException {
    String body =
        "{\"quota\":\"ant/sonnet\",\"agent\":\"%s\",\"input_tokens\":%d,\"wait_ms\":%d}"
            .formatted(agent, tokens, waitMs);
    return JSON.readTree(
        http.send(
                HttpRequest.newBuilder(URI.create(up.addresses().gateway() + "/v1/leases"))
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build(),
                HttpResponse.BodyHandlers.ofString())
            .body());
  }

  private void settle(UpChild up, JsonNode lease) throws IOException, InterruptedException {
    String path = "/v1/leases/" + lease.path("id").asText() + "/settle";
    int status =
        http.send(
                HttpRequest.newBuilder(URI.create(up.addresses().gateway() + path))
                    .POST(HttpRequest.BodyPublishers.ofString("{\"outcome\":\"NOT_SENT\"}"))
                    .build(),
                HttpResponse.BodyHandlers.discarding())
            .statusCode();
    assertThat(status).isEqualTo(200);
  }

  /** Requests of agents behind the gateway whose ids begin so. */
  private static List<String> requests(UpChild up, String agent) {
    List<String> ids = new ArrayList<>();
    for (AdmissionEvent event : journal(up)) {
      if (event.getCommand() instanceof RequestLease asked
          && asked.getRequest().getAgentId().startsWith("gateway:" + agent)) {
        ids.add(asked.getRequest().getRequestId());
      }
    }
    return ids;
  }

  /** Requests that were withdrawn, or whose grants were given back. */
  private static List<String> givenBack(UpChild up) {
    List<String> ids = new ArrayList<>();
    for (AdmissionEvent event : journal(up)) {
      if (event.getCommand() instanceof SettleLease settled) {
        Settlement settlement = settled.getSettlement();
        Outcome outcome = settlement.getOutcome();
        if (outcome == Outcome.NOT_SENT || outcome == Outcome.CANCELLED) {
          ids.add(settlement.getRequestId());
        }
      }
    }
    return ids;
  }

  private static List<Object> events(UpChild up, Class<?> type) {
    return journal(up).stream()
        .flatMap(entry -> entry.getEvents().stream())
        .filter(type::isInstance)
        .toList();
  }

  private static List<AdmissionEvent> journal(UpChild up) {
    List<AdmissionEvent> events = new ArrayList<>();
    try (Pipeline pipeline =
            new Pipeline(
                up.addresses().bootstrap(), up.addresses().registry(), new Topics(), Map.of());
        AvroDeserializer<AdmissionEvent> deserializer =
            new AvroDeserializer<>(pipeline.registry(), AdmissionEvent.class)) {
      String topic = pipeline.topics().journal();
      pipeline
          .reader()
          .read(
              topic,
              new TopicReader.From.Beginning(),
              record -> events.add(deserializer.deserialize(topic, record.value())));
    }
    return events;
  }
}
