package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.math.BigInteger;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every bound of a request in docs/openapi.yaml, as the document has it: what lies just inside is
 * taken, and what lies just outside is 400, with the name of the field.
 */
class DocumentedBoundsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final Path DOCUMENT = Path.of("../docs/openapi.yaml");

  /** Just inside and just outside of each pattern that the document uses. */
  private static final Map<String, Texts> PATTERNS =
      Map.of(
          "^[A-Za-z0-9._:-]{1,100}$",
          new Texts(List.of("a", "Az09._:-", "a".repeat(100)), odd("a".repeat(101), "a/b")),
          "^[A-Za-z0-9._:-]{1,64}$",
          new Texts(List.of("a", "Az09._:-", "a".repeat(64)), odd("a".repeat(65), "a/b")),
          "^[A-Za-z0-9._-]{1,100}(/[A-Za-z0-9._-]{1,100})?$",
          new Texts(
              List.of("k", "Az09._-/q", "k".repeat(100) + "/" + "q".repeat(100)),
              odd("k".repeat(101), "k/" + "q".repeat(101), "k:q", "k/", "/q", "k/q/r")));

  private record Texts(List<String> inside, List<String> outside) {}

  /** One value at one place of a body; {@code value} null takes the place out. */
  private record Probe(List<String> at, JsonNode value, boolean taken) {
    JsonNode in(JsonNode base) {
      ObjectNode body = base.deepCopy();
      JsonNode place = body;
      for (int i = 0; i < at.size() - 1; i++) {
        String next = at.get(i);
        if (place.isArray()) {
          place = place.get(Integer.parseInt(next));
        } else {
          JsonNode inner = place.get(next);
          place = inner == null ? ((ObjectNode) place).putObject(next) : inner;
        }
      }
      String last = at.get(at.size() - 1);
      if (place.isArray()) {
        ((ArrayNode) place).set(Integer.parseInt(last), value);
      } else if (value == null) {
        ((ObjectNode) place).remove(last);
      } else {
        ((ObjectNode) place).set(last, value);
      }
      return body;
    }
  }

  private final GatewayFixture fixture = new GatewayFixture();
  private JsonNode document;

  @BeforeEach
  void readDocument() throws IOException {
    document = new ObjectMapper(new YAMLFactory()).readTree(DOCUMENT.toFile());
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldHoldTheBoundsOfALeaseRequest() {
    // when / then
    hold(
        "LeaseRequest",
        "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\"}",
        25,
        body -> fixture.post("/v1/leases", body));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\"} {}",
        "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\"}x",
        "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\",\"agent\":\"a2\"}"
      })
  void shouldRefuseWhatIsMoreThanOneObject(String body) {
    // when
    HttpResponse<String> response = fixture.post("/v1/leases", body);

    // then
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("one JSON object");
    assertThat(fixture.admission.asked).isEmpty();
  }

  @Test
  void shouldHoldTheBoundsOfASettlement() {
    // when / then: each on a lease of its own, as only the first settlement counts, and with the
    // one outcome that goes with every field
    hold(
        "Settlement",
        "{\"outcome\":\"RATE_LIMITED\",\"usage\":{}}",
        60,
        body -> fixture.post("/v1/leases/" + granted() + "/settle", body));
  }

  @Test
  void shouldHoldTheBoundsOfATask() {
    // when / then
    hold(
        "TaskUpdate",
        "{\"quota\":\"ant/sonnet\",\"id\":\"T\",\"role\":\"worker\",\"state\":\"BLOCKED\"}",
        25,
        body -> fixture.post("/v1/tasks", body));
  }

  @Test
  void shouldHoldTheBoundsOfAGraph() {
    // when / then
    hold(
        "TaskUpdates",
        "{\"quota\":\"ant/sonnet\",\"tasks\":[{\"id\":\"T\",\"state\":\"BLOCKED\"}]}",
        25,
        body -> fixture.post("/v1/tasks", body));
  }

  @Test
  void shouldHoldTheBoundsOfAMode() {
    // when / then
    hold(
        document.at("/paths/~1fairway~1modes~1{quota}/put/requestBody/content").elements().next(),
        "{\"mode\":\"ENFORCE\"}",
        5,
        body ->
            send(
                HttpRequest.newBuilder(fixture.uri("/fairway/modes/ant/sonnet"))
                    .PUT(HttpRequest.BodyPublishers.ofString(body))));
  }

  @Test
  void shouldHoldTheBoundsOfAWait() {
    // given
    String most = document.at("/paths/~1v1~1leases~1{id}/get/parameters/0/schema/maximum").asText();
    String lease = "/v1/leases/" + granted() + "?wait_ms=";

    // when / then
    for (String inside : List.of("0", most)) {
      assertThat(send(HttpRequest.newBuilder(fixture.uri(lease + inside))).statusCode())
          .as(inside)
          .isEqualTo(200);
    }
    String above = new BigInteger(most).add(BigInteger.ONE).toString();
    for (String outside : List.of("-1", above, "x", "")) {
      assertThat(send(HttpRequest.newBuilder(fixture.uri(lease + outside))).statusCode())
          .as(outside)
          .isEqualTo(400);
    }
  }

  /** A body that is documented and not tested here would be one whose bounds nobody holds. */
  @Test
  void shouldKnowEveryBodyOfTheDocument() {
    // when
    TreeSet<String> bodies = new TreeSet<>();
    for (JsonNode body : document.path("paths").findValues("requestBody")) {
      JsonNode schema = body.path("content").path("application/json").path("schema");
      List<JsonNode> all = new ArrayList<>();
      (schema.has("oneOf") ? schema.path("oneOf") : NODES.arrayNode().add(schema))
          .forEach(all::add);
      all.forEach(one -> bodies.add(one.path("$ref").asText("a mode")));
    }

    // then
    assertThat(bodies)
        .containsExactly(
            "#/components/schemas/LeaseRequest",
            "#/components/schemas/Settlement",
            "#/components/schemas/TaskUpdate",
            "#/components/schemas/TaskUpdates",
            "a mode");
  }

  private void hold(
      String schema, String base, int probesMin, Function<String, HttpResponse<String>> send) {
    hold(document.at("/components/schemas/" + schema), base, probesMin, send);
  }

  private void hold(
      JsonNode schema, String base, int probesMin, Function<String, HttpResponse<String>> send) {
    JsonNode body = json(base);
    List<Probe> probes = new ArrayList<>();
    JsonNode of = schema.has("schema") ? schema.path("schema") : schema;
    probe(of, body, List.of(), probes);
    assertThat(probes.stream().filter(Probe::taken)).hasSizeGreaterThan(probesMin / 3);
    assertThat(probes.stream().filter(probe -> !probe.taken())).hasSizeGreaterThan(probesMin / 2);
    assertThat(probes).hasSizeGreaterThan(probesMin);
    SoftAssertions softly = new SoftAssertions();
    for (Probe probe : probes) {
      HttpResponse<String> answer = send.apply(probe.in(body).toString());
      String told = "%s = %.80s: %s".formatted(probe.at(), probe.value(), answer.body());
      if (probe.taken() && probe.at().equals(List.of("attempt"))) {
        // Well-formed, and on another attempt than the one that is held.
        softly.assertThat(answer.statusCode()).as(told).isIn(200, 409);
      } else if (probe.taken()) {
        softly.assertThat(answer.statusCode()).as(told).isBetween(200, 202);
      } else {
        softly.assertThat(answer.statusCode()).as(told).isEqualTo(400);
        softly.assertThat(answer.body()).as(told).contains("Expected", field(probe.at()));
      }
    }
    softly.assertAll();
  }

  /** The nearest name in a path; elements of arrays have none. */
  private static String field(List<String> at) {
    for (int i = at.size() - 1; i >= 0; i--) {
      if (!at.get(i).matches("[0-9]+")) {
        return at.get(i);
      }
    }
    return "";
  }

  // ---- what lies inside and outside of a schema

  private void probe(JsonNode schema, JsonNode base, List<String> at, List<Probe> probes) {
    if (schema.has("$ref")) {
      probe(document.at(schema.path("$ref").asText().substring(1)), base, at, probes);
    } else if (schema.has("enum")) {
      schema.path("enum").forEach(value -> probes.add(new Probe(at, value, true)));
      outside(at, probes, NODES.textNode("NOPE"), NODES.numberNode(7));
    } else {
      switch (schema.path("type").asText()) {
        case "integer" -> whole(schema, at, probes);
        case "string" -> text(schema, at, probes);
        case "boolean" -> {
          probes.add(new Probe(at, NODES.booleanNode(true), true));
          outside(at, probes, NODES.textNode("true"), NODES.numberNode(1));
        }
        case "array" -> list(schema, base, at, probes);
        case "object" -> object(schema, base, at, probes);
        default -> throw new AssertionError("Expected a type at " + at + ", but found " + schema);
      }
    }
  }

  private static void whole(JsonNode schema, List<String> at, List<Probe> probes) {
    BigInteger least = schema.path("minimum").bigIntegerValue();
    BigInteger most =
        schema.has("maximum")
            ? schema.path("maximum").bigIntegerValue()
            : BigInteger.valueOf(Long.MAX_VALUE);
    assertThat(schema.has("minimum")).as("a minimum of " + at).isTrue();
    probes.add(new Probe(at, NODES.numberNode(least), true));
    probes.add(new Probe(at, NODES.numberNode(most), true));
    outside(
        at,
        probes,
        NODES.numberNode(least.subtract(BigInteger.ONE)),
        NODES.numberNode(most.add(BigInteger.ONE)),
        NODES.numberNode(1.5),
        NODES.textNode("7"));
  }

  private static void text(JsonNode schema, List<String> at, List<Probe> probes) {
    Texts texts = PATTERNS.get(schema.path("pattern").asText());
    assertThat(texts).as("a known pattern of " + at + ": " + schema).isNotNull();
    texts.inside().forEach(text -> probes.add(new Probe(at, NODES.textNode(text), true)));
    texts.outside().forEach(text -> outside(at, probes, NODES.textNode(text)));
    outside(at, probes, NODES.numberNode(7));
  }

  private void list(JsonNode schema, JsonNode base, List<String> at, List<Probe> probes) {
    int least = schema.path("minItems").asInt(0);
    int most = schema.path("maxItems").asInt(0);
    assertThat(most).as("a maxItems of " + at).isPositive();
    JsonNode element = base.isArray() ? base.get(0) : NODES.textNode("t0");
    probes.add(new Probe(at, elements(element, least), true));
    probes.add(new Probe(at, elements(element, most), true));
    if (least > 0) {
      outside(at, probes, elements(element, least - 1));
    }
    outside(at, probes, elements(element, most + 1), NODES.textNode("t0"));
    if (base.isArray()) {
      probe(schema.path("items"), element, with(at, "0"), probes);
    } else {
      List<Probe> of = new ArrayList<>();
      probe(schema.path("items"), element, at, of);
      of.forEach(one -> probes.add(new Probe(at, NODES.arrayNode().add(one.value()), one.taken())));
    }
  }

  private void object(JsonNode schema, JsonNode base, List<String> at, List<Probe> probes) {
    assertThat(schema.path("additionalProperties").isBoolean()).as("surplus of " + at).isTrue();
    outside(with(at, "surplus"), probes, NODES.numberNode(7));
    schema
        .path("required")
        .forEach(name -> probes.add(new Probe(with(at, name.asText()), null, false)));
    if (!at.isEmpty()) {
      outside(at, probes, NODES.textNode("x"));
    }
    schema
        .path("properties")
        .properties()
        .forEach(
            field ->
                probe(
                    field.getValue(), base.path(field.getKey()), with(at, field.getKey()), probes));
  }

  private static ArrayNode elements(JsonNode like, int count) {
    ArrayNode elements = NODES.arrayNode();
    for (int i = 0; i < count; i++) {
      if (like.isObject()) {
        elements.add(((ObjectNode) like.deepCopy()).put("id", "t" + i));
      } else {
        elements.add("t" + i);
      }
    }
    return elements;
  }

  private static void outside(List<String> at, List<Probe> probes, JsonNode... values) {
    for (JsonNode value : values) {
      probes.add(new Probe(at, value, false));
    }
  }

  private static List<String> odd(String... more) {
    List<String> odd = new ArrayList<>(List.of("", "a b", "\u00e4", "a\n"));
    odd.addAll(List.of(more));
    return odd;
  }

  private static List<String> with(List<String> at, String name) {
    List<String> longer = new ArrayList<>(at);
    longer.add(name);
    return longer;
  }

  // ---- calls

  private String granted() {
    String body = "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\",\"wait_ms\":10000}";
    return json(fixture.post("/v1/leases", body).body()).path("id").asText();
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return fixture.http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError(text, e);
    }
  }
}
