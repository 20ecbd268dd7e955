package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.replay.script.QuotaJson;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.Usage;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code up} and the operators' commands, as a user has them. */
class UpIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Topics TOPICS = new Topics();
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @TempDir static Path parent;
  private static Path data;
  private static UpRunner up;

  @BeforeAll
  static void start() {
    data = parent.resolve("data");
    up = UpRunner.start(data);
  }

  @AfterAll
  static void stop() {
    up.close();
  }

  @Test
  void shouldDefineADemoQuotaAndSayWhereItIs() {
    assertThat(up.ready().path("ready").asBoolean()).isTrue();
    assertThat(up.ready().path("quotas")).anyMatch(id -> id.asText().equals("demo"));
    assertThat(json("status").path("quotas"))
        .anyMatch(quota -> quota.path("id").asText().equals("demo"));
  }

  @Test
  void shouldServeEveryDocumentedMetricOfTheDispatcher() throws Exception {
    // given
    Set<String> documented =
        Pattern.compile("`(fairway_dispatcher_[a-z_]+)`")
            .matcher(Files.readString(Path.of("../docs/watching.md")))
            .results()
            .map(name -> name.group(1))
            .collect(Collectors.toSet());
    URI metrics = URI.create(up.ready().path("coordinator").asText() + "/metrics");

    // when
    String served =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.ofString())
            .body();

    // then
    assertThat(documented).contains("fairway_dispatcher_journal_lag").hasSizeGreaterThan(10);
    assertThat(served).contains(documented).contains("fairway_leases_open{");
  }

  @Test
  void shouldRefuseASecondOneOnTheSameFolder() {
    UpRunner.Result second = UpRunner.command("up", "--data", data.toString());

    assertThat(second.code()).isEqualTo(1);
    assertThat(second.err()).contains("another 'fairway up' runs on it").contains("--data");
  }

  @Test
  void shouldSayThatAPortIsTakenBeforeItStartsAnything() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      // given
      int port = taken.getLocalPort();
      Path config =
          Files.writeString(
              parent.resolve("taken.yaml"),
              """
              quotas:
                - {id: k/q, provider: anthropic, models: ["*"], limits: {requests_per_minute: 10}}
              gateway:
                port: %d
                upstreams: {anthropic: {provider: anthropic}}
              """
                  .formatted(port));
      String folder = parent.resolve("taken").toString();

      // when
      UpRunner.Result gateway =
          UpRunner.command("up", "--data", folder, "--config", config.toString());
      UpRunner.Result status =
          UpRunner.command("up", "--data", folder, "--status-port", Integer.toString(port));
      UpRunner.Result twice =
          UpRunner.command("up", "--data", folder, "--port", "29092", "--status-port", "29092");

      // then
      assertThat(gateway.code()).isEqualTo(1);
      assertThat(gateway.err())
          .contains(Integer.toString(port), "gateway.port in --config")
          .doesNotContain("starting Kafka");
      assertThat(status.err()).contains("--status-port").doesNotContain("starting Kafka");
      assertThat(twice.err()).contains("--port and --status-port are both 29092");
    }
  }

  @Test
  void shouldGrantSettleAndTellWhy() throws Exception {
    // given
    apply("told", 100);

    // when
    send(TOPICS.requests(), "told", request("told-1", "teller", "told"));
    Decision granted = decisions("teller", 1).get(0);
    JsonNode leases = json("leases", "--quota", "told");
    String listed = UpRunner.command("leases", "--quota", "told", "--data", data.toString()).out();
    send(TOPICS.settlements(), "told", settlement(granted));

    // then
    assertThat(granted.getStatus()).isEqualTo(DecisionStatus.GRANTED);
    assertThat(listed).contains("EXPIRES").containsPattern("told-1 +teller .* ago +in 1?[0-9]+ s");
    assertThat(leases.path("leases"))
        .anyMatch(lease -> lease.path("request").asText().equals("told-1"));
    await()
        .atMost(PATIENCE)
        .until(() -> json("why", "told-1").path("outcome").asText().equals("settled"));
    assertThat(UpRunner.command("why", "told-1", "--data", data.toString()).out())
        .contains("arrived from teller")
        .contains("granted after")
        .contains("settled SUCCEEDED");
  }

  @Test
  void shouldRemoveAQuotaAndSendAwayWhoWaits() throws Exception {
    // given
    apply("gone", 100);
    UpRunner.command("quota", "pause", "gone", "--data", data.toString());
    awaitState("gone", "PAUSED");
    send(TOPICS.requests(), "gone", request("gone-1", "leaver", "gone"));
    await()
        .atMost(PATIENCE)
        .until(() -> json("queue", "--quota", "gone").path("queue").size() == 1);

    // when
    JsonNode removed = json("quota", "remove", "gone");

    // then
    assertThat(removed.path("removed").asText()).isEqualTo("gone");
    Decision last = decisions("leaver", 2).get(1);
    assertThat(last.getStatus()).isEqualTo(DecisionStatus.REJECTED);
    assertThat(last.getRejected().getReason()).isEqualTo(RejectReason.UNKNOWN_QUOTA);
    assertThat(json("quota", "list").path("quotas"))
        .noneMatch(quota -> quota.path("id").asText().equals("gone"));
    assertThat(UpRunner.command("quota", "remove", "gone", "--data", data.toString()).err())
        .contains("Expected a quota 'gone'");
  }

  @Test
  void shouldPauseShowTheQueueAndResume() throws Exception {
    // given
    apply("paused", 100);
    assertThat(UpRunner.command("quota", "pause", "paused", "--data", data.toString()).out())
        .contains("paused");
    awaitState("paused", "PAUSED");

    // when
    send(TOPICS.requests(), "paused", request("paused-1", "waiter", "paused"));
    await()
        .atMost(PATIENCE)
        .until(() -> json("queue", "--quota", "paused").path("queue").size() == 1);
    UpRunner.command("quota", "resume", "paused", "--data", data.toString());

    // then
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                decisions("waiter", 1).stream()
                    .anyMatch(d -> d.getStatus() == DecisionStatus.GRANTED));
    assertThat(json("queue", "--quota", "paused").path("queue")).isEmpty();
  }

  @Test
  void shouldShowWhatApplyWouldChangeAndChangeNothing() throws Exception {
    // given
    apply("compared", 100);
    Path file = quotaFile("compared", 50);

    // when
    UpRunner.Result dry =
        UpRunner.command("quota", "apply", file.toString(), "--dry-run", "--data", data.toString());

    // then
    assertThat(dry.out())
        .contains("compared: would update")
        .contains("limits.requests_per_minute: 100 -> 50")
        .contains("0 open leases");
    assertThat(json("quota", "get", "compared").path("limits").path("requests_per_minute").asInt())
        .isEqualTo(100);
  }

  @Test
  void shouldShowThatADefinitionOfAnotherToolIsRefused() throws Exception {
    // given: three quotas, two of which another tool spoils, one by a record that is no Avro
    apply("kept", 100);
    apply("spoilt", 100);
    Quota zero =
        QuotaJson.parse(
            MAPPER.readTree("{\"id\":\"spoilt\",\"limits\":{\"requests_per_minute\":0}}"));
    send(TOPICS.quotas(), "spoilt", zero);
    sendBytes(TOPICS.quotas(), "garbled", "no Avro at all".getBytes(StandardCharsets.UTF_8));
    await()
        .atMost(PATIENCE)
        .until(() -> !letters("spoilt").isEmpty() && !letters("garbled").isEmpty());

    // when
    UpRunner.Result list = UpRunner.command("quota", "list", "--data", data.toString());
    JsonNode inForce = json("quota", "list").path("in_force");
    UpRunner.Result get = UpRunner.command("quota", "get", "spoilt", "--data", data.toString());
    UpRunner.Result pause = UpRunner.command("quota", "pause", "spoilt", "--data", data.toString());

    // then
    assertThat(list.out().lines().filter(line -> line.startsWith("kept")).findFirst().orElseThrow())
        .endsWith("yes");
    assertThat(
            list.out().lines().filter(line -> line.startsWith("spoilt")).findFirst().orElseThrow())
        .contains("no, refused: INVALID: limits.requests_per_minute: expected 1 to")
        .endsWith("an earlier definition is in force");
    assertThat(
            list.out().lines().filter(line -> line.startsWith("garbled")).findFirst().orElseThrow())
        .contains("no, refused: MAGIC_BYTE");
    assertThat(inForce)
        .anyMatch(q -> q.path("id").asText().equals("kept") && q.path("in_force").asBoolean())
        .anyMatch(q -> q.path("id").asText().equals("spoilt") && !q.path("in_force").asBoolean());
    assertThat(get.err()).contains("spoilt is not in force: refused: INVALID");
    assertThat(pause.code()).isEqualTo(1);
    assertThat(pause.err()).contains("Expected a definition of spoilt that the coordinator takes");
  }

  @Test
  void shouldListDeadLettersAndSendEachAgainOnce() throws Exception {
    // given
    byte[] garbage = "no Avro at all".getBytes(StandardCharsets.UTF_8);
    sendBytes(TOPICS.requests(), "garbage", garbage);
    await().atMost(PATIENCE).until(() -> letters("garbage").size() == 1);
    JsonNode letter = letters("garbage").get(0);
    String place = letter.path("place").asText();

    // when
    JsonNode first = json("dead-letters", "redrive", place, place);
    JsonNode again = json("dead-letters", "redrive", place);
    UpRunner.Result second =
        UpRunner.command("dead-letters", "redrive", place, "--data", data.toString());

    // then
    assertThat(letter.path("reason").asText()).isEqualTo("MAGIC_BYTE");
    assertThat(letter.path("source").asText()).startsWith(TOPICS.requests() + "/");
    assertThat(letter.path("bytes").asInt()).isEqualTo(garbage.length);
    assertThat(first.path("redriven"))
        .singleElement()
        .matches(sent -> sent.path("place").asText().equals(place))
        .matches(sent -> sent.path("redriven").asBoolean());
    assertThat(first.path("passed_over")).isEmpty();
    assertThat(again.path("redriven")).isEmpty();
    assertThat(again.path("passed_over"))
        .singleElement()
        .matches(passed -> passed.path("place").asText().equals(place));
    assertThat(second.out()).contains("passed over").contains("0 sent again, 1 passed over");
    await().atMost(PATIENCE).until(() -> letters("garbage").size() == 2);
  }

  @Test
  void shouldTellWhyARequestUnderAWrongRecordKeyIsNotDecided() throws Exception {
    // given: the second has nobody who could be told
    apply("asked", 100);
    send(TOPICS.requests(), "elsewhere", request("astray-1", "lost", "asked"));
    send(TOPICS.requests(), "elsewhere", request("astray-2", "no/agent", "asked"));
    await().atMost(PATIENCE).until(() -> letters("elsewhere").size() == 2);

    // when
    await().atMost(PATIENCE).until(() -> decisions("lost", 1).size() == 1);
    JsonNode told = json("why", "astray-1");
    JsonNode set = json("why", "astray-2");
    UpRunner.Result text = UpRunner.command("why", "astray-2", "--data", data.toString());
    UpRunner.Result none = UpRunner.command("why", "astray-3", "--data", data.toString());

    // then
    assertThat(told.path("outcome").asText()).isEqualTo("rejected");
    assertThat(set.path("outcome").asText()).isEqualTo("dead_letter");
    assertThat(text.out())
        .contains("request astray-2 was not decided: dead letter ")
        .contains("KEY_MISMATCH: ");
    assertThat(none.code()).isEqualTo(1);
    assertThat(none.err()).contains("no dead letter does");
  }

  @Test
  void shouldVerifyTheJournalAroundARecordOfSomebodyElse() throws Exception {
    // given
    sendBytes(TOPICS.journal(), "foreign", "no Avro at all".getBytes(StandardCharsets.UTF_8));

    // when
    UpRunner.Result verified =
        UpRunner.command(
            "replay",
            "--verify",
            "--bootstrap",
            up.ready().path("bootstrap").asText(),
            "--registry",
            up.ready().path("registry").asText());

    // then
    assertThat(verified.code()).as(verified.err()).isEqualTo(4);
    assertThat(MAPPER.readTree(verified.out()).path("unreadable").asInt()).isEqualTo(1);
    assertThat(verified.err())
        .containsPattern("partition [0-9]+, offset [0-9]+: expected a journal record")
        .contains("key 'foreign'");
  }

  @Test
  void shouldRegisterListAndRetireAgents() {
    UpRunner.command("agent", "add", "temp:1", "--data", data.toString());
    assertThat(json("agent", "list").path("agents"))
        .anyMatch(agent -> agent.path("agent").asText().equals("temp:1"));

    UpRunner.command("agent", "retire", "temp:1", "--data", data.toString());
    assertThat(json("agent", "list").path("agents"))
        .noneMatch(agent -> agent.path("agent").asText().equals("temp:1"));

    UpRunner.Result unknown =
        UpRunner.command("agent", "retire", "temp:1", "--data", data.toString());
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err()).contains("Expected registered agents");
  }

  private static void apply(String id, int requestsPerMinute) throws Exception {
    UpRunner.Result result =
        UpRunner.command(
            "quota",
            "apply",
            quotaFile(id, requestsPerMinute).toString(),
            "--data",
            data.toString());
    assertThat(result.code()).as(result.err()).isZero();
    // It has waited itself: a request that follows is decided by this definition.
    assertThat(result.out()).contains("in force");
    assertThat(json("status").path("quotas"))
        .anyMatch(quota -> quota.path("id").asText().equals(id));
  }

  private static void awaitState(String id, String state) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(json("status").path("quotas"))
                    .anyMatch(
                        q ->
                            q.path("id").asText().equals(id)
                                && q.path("state").asText().equals(state)));
  }

  private static Path quotaFile(String id, int requestsPerMinute) throws Exception {
    Path file = Files.createTempFile(parent, id, ".yaml");
    return Files.writeString(
        file,
        "quotas:\n  - id: "
            + id
            + "\n    limits: {requests_per_minute: "
            + requestsPerMinute
            + "}\n");
  }

  private static List<JsonNode> letters(String key) {
    List<JsonNode> letters = new ArrayList<>();
    for (JsonNode letter : json("dead-letters", "list").path("dead_letters")) {
      if (letter.path("key").asText().equals(key)) {
        letters.add(letter);
      }
    }
    return letters;
  }

  private static JsonNode json(String... command) {
    List<String> args = new ArrayList<>(List.of(command));
    args.addAll(List.of("--data", data.toString(), "--json", "-"));
    UpRunner.Result result = UpRunner.command(args.toArray(new String[0]));
    assertThat(result.code()).as(result.err()).isZero();
    try {
      return MAPPER.readTree(result.out());
    } catch (JsonProcessingException e) {
      throw new AssertionError(result.out(), e);
    }
  }

  private static LeaseRequest request(String id, String agent, String quota) {
    return LeaseRequest.newBuilder()
        .setRequestId(id)
        .setAgentId(agent)
        .setQuota(quota)
        .setEstimate(Estimate.newBuilder().setInputTokens(100L).build())
        .build();
  }

  private static Settlement settlement(Decision granted) {
    return Settlement.newBuilder()
        .setLeaseId(granted.getGranted().getLeaseId())
        .setRequestId(granted.getRequestId())
        .setAgentId(granted.getAgentId())
        .setQuota(granted.getQuota())
        .setOutcome(Outcome.SUCCEEDED)
        .setUsage(Usage.newBuilder().setInputTokens(90L).setOutputTokens(10L).build())
        .build();
  }

  private static void send(String topic, String key, SpecificRecord value) throws Exception {
    sendBytes(
        topic,
        key,
        new AvroSerializer<>(new HttpSchemaRegistry(up.registry())).serialize(topic, value));
  }

  private static void sendBytes(String topic, String key, byte[] value) throws Exception {
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", up.bootstrap()),
            new StringSerializer(),
            new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>(topic, key, value)).get(30, TimeUnit.SECONDS);
    }
  }

  /** All decisions that the agent has, once there are as many as that. */
  private static List<Decision> decisions(String agent, int count) {
    String topic = TOPICS.reply(agent);
    List<Decision> decisions = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(
                Map.of("bootstrap.servers", up.bootstrap(), "metadata.max.age.ms", 500),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        AvroDeserializer<Decision> deserializer =
            new AvroDeserializer<>(new HttpSchemaRegistry(up.registry()), Decision.class)) {
      TopicPartition partition = new TopicPartition(topic, 0);
      await().atMost(PATIENCE).until(() -> consumer.listTopics().containsKey(topic));
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                for (ConsumerRecord<byte[], byte[]> record :
                    consumer.poll(Duration.ofMillis(100))) {
                  decisions.add(deserializer.deserialize(topic, record.value()));
                }
                return decisions.size() >= count;
              });
    }
    return decisions;
  }
}
