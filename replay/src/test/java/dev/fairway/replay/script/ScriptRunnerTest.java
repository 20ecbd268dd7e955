package dev.fairway.replay.script;

import static dev.fairway.replay.script.Script.decision;
import static dev.fairway.replay.script.Script.events;
import static dev.fairway.replay.script.Script.states;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScriptRunnerTest {
  private static final String SMALL =
      "{'at_ms':0,'quota':{'id':'q','limits':{'tokens_per_minute':600},'depth':{'tokens':600},"
          + "'level':{'tokens':100},'margin':{'start':1.0},'lease_ttl':'120s'}}";

  @Test
  void shouldPrintTheSessionOfTheContract() throws Exception {
    // given
    Script script =
        new Script()
            .line(
                "{'at_ms':0,'quota':{'id':'q','provider':'anthropic','window':'TOKEN_BUCKET','limits':{'requests_per_minute':50,'input_tokens_per_minute':30000,"
                    + "'output_tokens_per_minute':8000,'tokens_per_minute':null,'concurrent_requests':null},'depth':{'input_tokens':30000},'level':{'input_tokens':100},"
                    + "'policy':'FAIRWAY','margin':{'mode':'AUTO','start':1.0,'floor':0.6,'cut':0.05,'creep':0.01,'clean_interval_ms':180000},'lease_ttl_ms':120000,'max_queue_wait_ms':60000,"
                    + "'output_reservation':'MAX_TOKENS','default_estimate':2000,'late_settlement_window_ms':600000,'queue_max':10000,'queue_max_per_agent':1000,"
                    + "'budgets':{'retries_per_task':12,'calls_per_task':null,'retry_share':0.1},'classes':{'interactive':{'reserve':0.2}},'tenants':{'t1':{'weight':1,'ceiling':0.5}},"
                    + "'roles':{'planner':3.0,'reviewer':2.0,'worker':1.0}}}")
            .line(
                "{'at_ms':0,'request':{'id':'r1','quota':'q','agent':'a1','tenant':'t1','task':'T','role':'worker','class':'batch','retry_of':null,'repeat_failures':0,'unblocks':null,"
                    + "'input_tokens':80,'cached_tokens':0,'cache_expires_at_ms':null,'max_output_tokens':0,'deadline_ms':null}}")
            .line(
                "{'at_ms':900,'settle':{'request':'r1','quota':'q','outcome':'SUCCEEDED','requeue':false,'input_tokens':75,'cache_read_tokens':0,'cache_write_tokens':0,'output_tokens':10,"
                    + "'signal':{'status':200,'class':'OK','binding':null,'retry_after_ms':null,'age_ms':0,'ms_since_send':900,'limits':{'input_tokens':{'limit':30000,'remaining':29000,'reset_ms':2000}}}}}")
            .line(
                "{'at_ms':950,'task':{'quota':'q','id':'T2','role':'worker','state':'BLOCKED','blocked_on':['T']}}")
            .show(1000);

    // when
    List<JsonNode> printed = script.run();

    // then
    JsonNode granted = decision(printed, "r1");
    assertThat(granted.toString())
        .matches(
            "\\{\"at_ms\":0,\"quota\":\"q\",\"event\":\"LeaseGranted\",\"request\":\"r1\","
                + "\"lease\":\"[0-9a-f]{32}\",\"charged\":\\{\"requests\":1,\"input_tokens\":80,"
                + "\"output_tokens\":0},\"expires_at_ms\":120000}");
    assertThat(events(printed, "LeaseSettled").get(0).get("adjusted").toString())
        .isEqualTo("{\"requests\":0,\"input_tokens\":5,\"output_tokens\":-10}");
    JsonNode resynced = events(printed, "BucketsResynced").get(0);
    assertThat(resynced.at("/dimensions/input_tokens").fieldNames())
        .toIterable()
        .containsExactly("before", "low", "high", "after", "outside_rate");
    JsonNode state = states(printed).get(0);
    assertThat(state.fieldNames())
        .toIterable()
        .containsExactly(
            "levels",
            "margin",
            "margin_mode",
            "leases",
            "waiting",
            "virtual_time",
            "reserved",
            "outside_rate");
    assertThat(state.get("levels").fieldNames())
        .toIterable()
        .containsExactly("requests", "input_tokens", "output_tokens");
    // The header makes AUTO follow the provider's level, and keep a sixteenth of the depth free.
    assertThat(state.get("margin").doubleValue()).isEqualTo(0.9375);
    assertThat(state.get("margin_mode").asText()).isEqualTo("ADAPTIVE");
    // One request is a fiftieth of its limit, as 600 input tokens are of theirs: it dominates.
    assertThat(state.get("virtual_time").longValue()).isEqualTo(600);
    assertThat(state.get("outside_rate").get("input_tokens").longValue()).isZero();
    assertThat(state.get("outside_rate").get("output_tokens").isNull()).isTrue();
  }

  @Test
  void shouldGrantAQueuedRequestAtItsOwnTimeBetweenLines() {
    // given: 100 tokens, 10 more each second
    Script script = new Script().line(SMALL).request(0, "r1", 100).request(0, "r2", 50);

    // when
    List<JsonNode> printed = script.show(7000).run();

    // then
    JsonNode queued = decision(printed, "r2");
    assertThat(queued.get("event").asText()).isEqualTo("LeaseQueued");
    assertThat(queued.get("position").intValue()).isEqualTo(1);
    assertThat(queued.get("eta_ms").longValue()).isEqualTo(5000);
    assertThat(queued.get("eta_p90_ms").isNull()).isTrue();
    assertThat(events(printed, "LeaseGranted").get(1).get("at_ms").longValue()).isEqualTo(5000);
    assertThat(states(printed).get(0).at("/levels/tokens").longValue()).isEqualTo(20);
    assertThat(states(printed).get(0).at("/reserved/tokens").longValue()).isEqualTo(150);
  }

  @Test
  void shouldRunUntilNobodyWaitsAndNoLeaseIsOpen() {
    // given
    Script script = new Script().line(SMALL).request(0, "r1", 100).request(0, "r2", 50);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "LeaseExpired"))
        .extracting(line -> line.get("at_ms").longValue())
        .containsExactly(120_000L, 125_000L);
    assertThat(script.stopped()).isEmpty();
  }

  @Test
  void shouldRunDueTicksBeforeTheLinesOfTheirTime() {
    // given: r1 expires at 120 s, in the very millisecond of its settlement
    Script script =
        new Script()
            .line(SMALL)
            .request(0, "r1", 100)
            .line(
                "{'at_ms':120000,'settle':{'request':'r1','quota':'q','outcome':'SUCCEEDED','input_tokens':60,'output_tokens':0}}");

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "LeaseExpired")).hasSize(1);
    JsonNode settled = events(printed, "LeaseSettled").get(0);
    assertThat(settled.get("late").booleanValue()).isTrue();
    assertThat(settled.at("/adjusted/tokens").longValue()).isEqualTo(40);
  }

  @Test
  void shouldClampAClockThatStepsBack() {
    // given
    Script script = new Script().line(SMALL).show(1000).request(200, "r1", 10).show(300);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(decision(printed, "r1").get("at_ms").longValue()).isEqualTo(1000);
    assertThat(states(printed))
        .extracting(state -> state.at("/levels/tokens").longValue())
        .containsExactly(110L, 100L);
  }

  @Test
  void shouldSettleTheLatestLeaseOfARequestAndOfTheAgentThatMadeIt() {
    // given: r1 comes back in line after a 429 and is granted again
    Script script =
        new Script()
            .line(SMALL)
            .request(0, "r1", 40)
            .line(
                "{'at_ms':10,'settle':{'request':'r1','quota':'q','outcome':'RATE_LIMITED','requeue':true}}")
            .line(
                "{'at_ms':1500,'settle':{'request':'r1','quota':'q','outcome':'SUCCEEDED','input_tokens':30,'output_tokens':0}}");

    // when
    List<JsonNode> printed = script.run();

    // then
    List<JsonNode> granted = events(printed, "LeaseGranted");
    List<JsonNode> settled = events(printed, "LeaseSettled");
    assertThat(granted).hasSize(2);
    assertThat(settled).hasSize(2);
    assertThat(settled.get(0).get("lease")).isEqualTo(granted.get(0).get("lease"));
    assertThat(settled.get(1).get("lease")).isEqualTo(granted.get(1).get("lease"));
    assertThat(settled.get(1).at("/adjusted/tokens").longValue()).isEqualTo(10);
    JsonNode cut = events(printed, "MarginCut").get(0);
    assertThat(cut.get("from").doubleValue()).isEqualTo(1.0);
    assertThat(cut.get("to").doubleValue()).isEqualTo(0.95);
  }

  @Test
  void shouldTellOneAgentsRequestFromAnothersOfTheSameId() {
    // given
    Script script =
        new Script()
            .line(SMALL)
            .line("{'at_ms':0,'request':{'id':'r','quota':'q','agent':'a','input_tokens':10}}")
            .line("{'at_ms':0,'request':{'id':'r','quota':'q','agent':'b','input_tokens':20}}")
            .line(
                "{'at_ms':1,'settle':{'request':'r','agent':'a','quota':'q','outcome':'NOT_SENT'}}")
            .line("{'at_ms':2,'settle':{'request':'r','quota':'q','outcome':'NOT_SENT'}}");

    // when
    List<JsonNode> settled = events(script.run(), "LeaseSettled");

    // then: without an agent it is the latest request of that id
    assertThat(settled)
        .extracting(line -> line.at("/adjusted/tokens").longValue())
        .containsExactly(10L, 20L);
  }

  @Test
  void shouldCancelByRequestAndChargeACallWithoutALease() {
    // given
    Script script =
        new Script()
            .line(SMALL)
            .request(0, "r1", 100)
            .request(0, "r2", 50)
            .line("{'at_ms':10,'settle':{'request':'r2','quota':'q','outcome':'CANCELLED'}}")
            .line(
                "{'at_ms':10,'settle':{'request':'u1','quota':'q','outcome':'UNLEASED','input_tokens':7,'output_tokens':0}}");

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "LeaseCancelled").get(0).get("was_waiting").booleanValue()).isTrue();
    assertThat(events(printed, "UnleasedCharged").get(0).get("charged").toString())
        .isEqualTo("{\"tokens\":7}");
    assertThat(events(printed, "LeaseGranted")).hasSize(1);
  }

  @Test
  void shouldRepeatTheDecisionWithItsFields() {
    // given
    Script script = new Script().line(SMALL).request(0, "r1", 10).request(5, "r1", 10);

    // when
    List<JsonNode> printed = script.run();

    // then
    JsonNode repeated = events(printed, "DecisionRepeated").get(0);
    assertThat(repeated.get("decision").asText()).isEqualTo("LeaseGranted");
    assertThat(repeated.get("lease")).isEqualTo(decision(printed, "r1").get("lease"));
    assertThat(repeated.at("/charged/tokens").longValue()).isEqualTo(10);
  }

  @Test
  void shouldIgnoreASettlementOfARequestThatHasNoLease() {
    // given
    Script script =
        new Script()
            .line(SMALL)
            .line("{'at_ms':0,'settle':{'request':'rX','quota':'q','outcome':'SUCCEEDED'}}");

    // when
    JsonNode ignored = events(script.run(), "SettlementIgnored").get(0);

    // then
    assertThat(ignored.get("request").asText()).isEqualTo("rX");
    assertThat(ignored.get("lease").isNull()).isTrue();
    assertThat(ignored.get("reason").asText()).isEqualTo("UNKNOWN_LEASE");
  }

  @Test
  void shouldShowTheUnknownLeaseThatAScriptNames() {
    // given
    Script script =
        new Script()
            .line(SMALL)
            .line("{'at_ms':0,'settle':{'lease':'none','quota':'q','outcome':'SUCCEEDED'}}");

    // when
    JsonNode ignored = events(script.run(), "SettlementIgnored").get(0);

    // then
    assertThat(ignored.get("lease").asText()).isEqualTo("none");
    assertThat(ignored.get("request").isNull()).isTrue();
  }

  @Test
  void shouldCancelForTheAgentThatALaterLineNames() {
    // given: two agents use the same id; the first later line counts
    Script script =
        new Script()
            .line(SMALL)
            .line("{'at_ms':0,'settle':{'request':'r','quota':'q','outcome':'CANCELLED'}}")
            .line("{'at_ms':1,'request':{'id':'r','quota':'other','agent':'x','input_tokens':1}}")
            .line("{'at_ms':1,'request':{'id':'r','quota':'q','agent':'a','input_tokens':10}}")
            .line("{'at_ms':2,'request':{'id':'r','quota':'q','agent':'b','input_tokens':20}}")
            .line("{'at_ms':3,'settle':{'request':'r','quota':'q','outcome':'NOT_SENT'}}");

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "LeaseCancelled").get(0).get("at_ms").longValue()).isZero();
    assertThat(events(printed, "RequestIgnored").get(0).get("at_ms").longValue()).isEqualTo(1);
    assertThat(events(printed, "LeaseSettled").get(0).at("/adjusted/tokens").longValue())
        .isEqualTo(20);
  }

  @Test
  void shouldChargeACallWithoutALeaseToTheAgentOfALaterLine() {
    // given
    Script script =
        new Script()
            .line(SMALL)
            .line(
                "{'at_ms':0,'settle':{'request':'r','quota':'q','outcome':'UNLEASED','input_tokens':7}}")
            .line("{'at_ms':1,'request':{'id':'r','quota':'q','agent':'a','input_tokens':10}}");

    // when
    List<JsonNode> printed = script.run();

    // then: the request of the call that was charged already is no second charge
    assertThat(events(printed, "UnleasedCharged")).hasSize(1);
    assertThat(events(printed, "LeaseGranted")).isEmpty();
  }

  @Test
  void shouldCancelForTheAgentOfARequestThatWasRefused() {
    // given
    Script script =
        new Script()
            .line(SMALL)
            .line("{'at_ms':0,'request':{'id':'r','quota':'q','agent':'a','input_tokens':9999}}")
            .line("{'at_ms':1,'settle':{'request':'r','quota':'q','outcome':'CANCELLED'}}");

    // when
    List<JsonNode> printed = script.run();

    // then: it is over already
    assertThat(events(printed, "LeaseRejected")).hasSize(1);
    assertThat(events(printed, "DuplicateIgnored")).hasSize(1);
    assertThat(events(printed, "LeaseCancelled")).isEmpty();
  }

  @Test
  void shouldRefuseALineAtItsTurnAlsoWhereItWasReadBefore() {
    // given
    Script script =
        new Script()
            .line(SMALL)
            .line("{'at_ms':0,'settle':{'request':'r','quota':'q','outcome':'CANCELLED'}}")
            .line("{'at_ms':1,'request':{'id':'s','quota':'q','agent':'a/b'}}")
            .line("{'at_ms':2,'nonsense':1}");

    // then: the line that comes first is the one that is named
    assertThatThrownBy(script::run)
        .isInstanceOf(ScriptException.class)
        .hasMessageContaining("line 3: Expected an agent_id");
  }

  @Test
  void shouldKeepSeveralQuotasAndKeysApart() {
    // given
    Script script =
        new Script()
            .line("{'at_ms':0,'quota':{'id':'k/a','limits':{'requests_per_minute':2}}}")
            .line("{'at_ms':0,'quota':{'id':'k/b','limits':{'requests_per_minute':60}}}")
            .line("{'at_ms':0,'quota':{'id':'other','limits':{'requests_per_minute':60}}}")
            .line("{'at_ms':0,'request':{'id':'r1','quota':'k/a','agent':'x'}}")
            .line("{'at_ms':0,'request':{'id':'r2','quota':'k/a','agent':'x'}}")
            .line("{'at_ms':0,'request':{'id':'r3','quota':'k/b','agent':'x'}}")
            .line("{'at_ms':0,'request':{'id':'r1','quota':'other','agent':'x'}}")
            .line("{'at_ms':0,'show':'k/a'}")
            .line("{'at_ms':0,'show':'nowhere'}");

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "LeaseGranted"))
        .extracting(line -> line.get("quota").asText() + " " + line.get("at_ms"))
        .containsExactly("k/a 0", "k/b 0", "other 0", "k/a 35295");
    assertThat(states(printed).get(0).get("waiting").intValue()).isEqualTo(1);
    assertThat(states(printed).get(1).isNull()).isTrue();
  }

  @Test
  void shouldNameTheLineThatTheEngineRefuses() {
    // given
    Script zeroLimit =
        new Script().line("{'at_ms':0,'quota':{'id':'q','limits':{'requests_per_minute':0}}}");
    Script badId =
        new Script().line(SMALL).line("{'at_ms':0,'request':{'id':'r','quota':'q','agent':'a/b'}}");

    // then
    assertThatThrownBy(zeroLimit::run)
        .isInstanceOf(ScriptException.class)
        .hasMessageContaining("line 1: quota.limits.requests_per_minute: expected 1 to");
    assertThatThrownBy(badId::run)
        .isInstanceOf(ScriptException.class)
        .hasMessageContaining("line 2: Expected an agent_id");
  }

  @Test
  void shouldEndAlsoWhereAPausedQuotaKeepsAQueue() {
    // given
    Script script =
        new Script()
            .line(
                "{'at_ms':0,'quota':{'id':'q','limits':{'tokens_per_minute':600},'state':'PAUSED'}}")
            .request(0, "r1", 10);

    // when
    List<JsonNode> printed = script.run();

    // then
    assertThat(events(printed, "LeaseRejected").get(0).get("reason").asText())
        .isEqualTo("DEADLINE_PASSED");
    assertThat(script.stopped()).isEmpty();
  }
}
