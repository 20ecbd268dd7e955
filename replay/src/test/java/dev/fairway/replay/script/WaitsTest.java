package dev.fairway.replay.script;

import static dev.fairway.replay.script.Script.decision;
import static dev.fairway.replay.script.Script.events;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is granted when, and what is told of it, where windows, reserves and breakers decide. */
class WaitsTest {

  @Test
  void shouldNotGiveAFixedWindowTwiceTheLimit() {
    // given
    Script script =
        new Script()
            .line(
                "{'at_ms':0,'quota':{'id':'q','window':'FIXED','limits':{'tokens_per_minute':100},"
                    + "'margin':{'start':0.85,'mode':'RATE'}}}")
            .request(120_010, "r1", 84)
            .request(120_200, "r2", 84);

    // when
    List<JsonNode> printed = script.run();

    // then: the one waits until the reset has taken effect, the other for the next one
    assertThat(decision(printed, "r1").get("eta_ms").asLong()).isEqualTo(140);
    assertThat(decision(printed, "r2").get("eta_ms").asLong()).isEqualTo(59_950);
    assertThat(grantedAt(printed, "r1")).isEqualTo(120_150);
    assertThat(grantedAt(printed, "r2")).isEqualTo(180_150);
  }

  @Test
  void shouldNotTellNoWaitBehindAReserveThatAQuotaCannotKeep() {
    // given
    Script script = new Script().line(reserved("ROLLING"));
    lines(script);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(grantedAt(printed, "r3")).isGreaterThan(40_000);
    for (JsonNode told : toldTo(printed, "r3")) {
      assertThat(told.get("eta_ms").asLong()).as("%s", told).isPositive();
    }
  }

  @Test
  void shouldNotTellNoWaitBehindAReserveOfAFixedWindow() {
    // given
    Script script = new Script().line(reserved("FIXED"));
    for (int i = 0; i < 12; i++) {
      script.line(request(1_000 + i, "r" + i, "batch"));
    }
    for (int i = 0; i < 5; i++) {
      script.line(request(5_000 + i, "late" + i, "interactive"));
    }

    // when
    List<JsonNode> printed = script.run();

    // then
    List<JsonNode> queued = events(printed, "LeaseQueued");
    assertThat(queued).isNotEmpty();
    for (JsonNode told : queued) {
      assertThat(told.get("eta_ms").asLong()).as("%s", told).isPositive();
    }
  }

  @Test
  void shouldTellWhoWaitsBehindAProbeItsTimeout() {
    // given: two refusals open the breaker, and the probe is out
    Script script =
        new Script()
            .line(
                "{'at_ms':0,'quota':{'id':'q','limits':{'requests_per_minute':600},"
                    + "'margin':{'start':1.0,'mode':'RATE'}}}")
            .request(0, "r1", 1)
            .request(0, "r2", 1)
            .line(refused(100, "r1"))
            .line(refused(200, "r2"))
            .request(3_000, "probe", 1)
            .request(3_001, "w", 1);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(grantedAt(printed, "probe")).isEqualTo(3_000);
    assertThat(decision(printed, "w").get("eta_ms").asLong()).isEqualTo(14_999);
    assertThat(grantedAt(printed, "w")).isEqualTo(18_000);
  }

  @Test
  void shouldNotHoldMoreAtOnceThanALearnedLimit() {
    // given
    Script script =
        new Script()
            .line(
                "{'at_ms':0,'quota':{'id':'q','limits':{'tokens_per_minute':60000},"
                    + "'depth':{'tokens':60000},'margin':{'start':1.0,'mode':'RATE'}}}")
            .request(0, "r0", 100)
            .line(
                "{'at_ms':500,'settle':{'request':'r0','quota':'q','outcome':'SUCCEEDED',"
                    + "'input_tokens':100,'output_tokens':0,'signal':{'status':200,'class':'OK',"
                    + "'age_ms':1,'ms_since_send':400,"
                    + "'limits':{'tokens':{'limit':1,'remaining':0,'reset_ms':1000}}}}}")
            .request(1_000, "r1", 5_000);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(decision(printed, "r1").get("reason").asText()).isEqualTo("NEVER_FITS");
    assertThat(script.stopped()).isEmpty();
  }

  @Test
  void shouldSayThatARunStoppedAtItsOwnBound() {
    // given: a wait of months
    Script script =
        new Script()
            .line(
                "{'at_ms':0,'quota':{'id':'q','limits':{'tokens_per_minute':1},"
                    + "'depth':{'tokens':100000},'level':{'tokens':0},"
                    + "'margin':{'start':1.0,'mode':'RATE'},'late_settlement_window':'0s'}}")
            .request(0, "r1", 90_000);

    // when
    script.run();

    // then
    assertThat(script.stopped()).isPresent();
    assertThat(script.stopped().get())
        .contains("the run stops 2678400000 ms after its last line")
        .doesNotContain("no passing of time");
  }

  @Test
  void shouldNotSettleANewLeaseByTheIdOfAForgottenOne() {
    // given: a request id used again after its memory
    Script script =
        new Script()
            .line("{'at_ms':0,'quota':{'id':'q','limits':{'tokens_per_minute':6000}}}")
            .request(0, "r1", 100)
            .line(
                "{'at_ms':100,'settle':{'request':'r1','quota':'q','outcome':'SUCCEEDED',"
                    + "'input_tokens':100,'output_tokens':0}}")
            .request(700_000, "r1", 4_000);

    // when
    List<JsonNode> granted = events(script.run(), "LeaseGranted");

    // then
    assertThat(granted).hasSize(2);
    assertThat(granted.get(0).get("lease")).isNotEqualTo(granted.get(1).get("lease"));
  }

  private static void lines(Script script) {
    script
        .line(request(0, "r0", "batch"))
        .line(request(3_000, "r1", "batch"))
        .line(request(4_000, "r2", "batch"))
        .line(request(5_000, "r3", "interactive"))
        .line(
            "{'at_ms':29600,'request':{'id':'r20','quota':'q','agent':'b','tenant':'t1',"
                + "'input_tokens':100,'max_output_tokens':10}}");
  }

  private static String reserved(String window) {
    return "{'at_ms':0,'quota':{'id':'q','limits':{'input_tokens_per_minute':450000,"
        + "'output_tokens_per_minute':8000,'requests_per_minute':6},'window':'"
        + window
        + "','classes':{'interactive':{'reserve':0.5}},"
        + "'tenants':{'t1':{'weight':2,'ceiling':null},'t2':{'weight':1}}}}";
  }

  private static String request(long atMs, String id, String leaseClass) {
    return "{'at_ms':%d,'request':{'id':'%s','quota':'q','agent':'a-%s','class':'%s',"
            .formatted(atMs, id, id, leaseClass)
        + "'input_tokens':100,'max_output_tokens':10}}";
  }

  private static String refused(long atMs, String id) {
    return "{'at_ms':%d,'settle':{'request':'%s','quota':'q','outcome':'RATE_LIMITED',"
            .formatted(atMs, id)
        + "'signal':{'status':429,'class':'RATE_LIMITED','retry_after_ms':1000}}}";
  }

  private static List<JsonNode> toldTo(List<JsonNode> printed, String request) {
    List<JsonNode> told =
        printed.stream()
            .filter(line -> request.equals(line.path("request").asText()))
            .filter(line -> line.get("event").asText().matches("LeaseQueued|EtaRevised"))
            .toList();
    assertThat(told).isNotEmpty();
    return told;
  }

  private static long grantedAt(List<JsonNode> printed, String request) {
    return events(printed, "LeaseGranted").stream()
        .filter(line -> request.equals(line.path("request").asText()))
        .mapToLong(line -> line.get("at_ms").asLong())
        .findFirst()
        .orElseThrow();
  }
}
