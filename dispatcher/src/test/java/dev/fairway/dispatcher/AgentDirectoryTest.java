package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.dispatcher.AgentDirectory.Resolution;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Topics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentDirectoryTest {

  private static final long RENEW_AFTER_MS = 100;

  private final AgentTable table = new AgentTable(2);
  private final List<AgentRegistration> published = new ArrayList<>();

  @Test
  void shouldGiveARegisteredAgentItsOwnTopic() {
    // given
    table.put(operatorMade("a1", null, null));

    // when
    Resolution resolution = closed().resolve("a1", false, 0);

    // then
    assertThat(resolution.route()).isEqualTo(new Route("fairway.replies.a1", 0, true));
    assertThat(published).isEmpty();
  }

  @Test
  void shouldGiveAPartitionOfASharedTopic() {
    // given
    table.put(operatorMade("a1", "fairway.replies.shared", 5));

    // when
    Resolution resolution = closed().resolve("a1", false, 0);

    // then
    assertThat(resolution.route()).isEqualTo(new Route("fairway.replies.shared", 5, false));
  }

  @Test
  void shouldGiveATopicOfAnotherName() {
    // given
    table.put(operatorMade("a1", "team-x.answers", null));

    // when
    Resolution resolution = closed().resolve("a1", false, 0);

    // then
    assertThat(resolution.route()).isEqualTo(new Route("team-x.answers", 0, true));
  }

  @Test
  void shouldGiveTheHexTopicOfAnIdWithAColon() {
    // given
    table.put(operatorMade("a:1", null, null));

    // when
    Resolution resolution = closed().resolve("a:1", false, 0);

    // then
    assertThat(resolution.route().topic()).isEqualTo("fairway.replies-hex.613a31");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fairway.journal",
        "fairway.agents",
        "fairway.replies-hex.00",
        "__consumer_offsets",
        "..",
        "a b",
        ""
      })
  void shouldNotWriteToTopicsThatAreNoReplyTopics(String topic) {
    // given
    table.put(operatorMade("a1", topic, 0));

    // when
    Resolution resolution = closed().resolve("a1", false, 0);

    // then
    assertThat(resolution).isEqualTo(Resolution.refused(DropReason.BAD_ROUTE));
  }

  @Test
  void shouldNotTakeAPartitionWithoutATopic() {
    // given
    table.put(operatorMade("a1", null, 3));

    // when
    Resolution resolution = closed().resolve("a1", false, 0);

    // then
    assertThat(resolution.refusal()).isEqualTo(DropReason.BAD_ROUTE);
  }

  @Test
  void shouldRefuseAgentsThatAreNotRegisteredInClosedMode() {
    // when
    Resolution resolution = closed().resolve("a1", true, 0);

    // then
    assertThat(resolution).isEqualTo(Resolution.refused(DropReason.UNREGISTERED));
    assertThat(published).isEmpty();
  }

  @Test
  void shouldRegisterAnAgentByItsFirstDecisionInOpenMode() {
    // when
    Resolution resolution = open().resolve("a1", true, 50);

    // then
    assertThat(resolution.route()).isEqualTo(new Route("fairway.replies.a1", 0, true));
    assertThat(published).hasSize(1);
    assertThat(published.get(0).getAgentId()).isEqualTo("a1");
    assertThat(published.get(0).getRegisteredBy()).isEqualTo("dispatcher");
    assertThat(published.get(0).getRegisteredAtMs()).isEqualTo(50);
    assertThat(table.get("a1")).isEqualTo(published.get(0));
  }

  @Test
  void shouldRegisterAnAgentOnce() {
    // given
    open().resolve("a1", true, 50);

    // when
    open().resolve("a1", true, 60);

    // then
    assertThat(published).hasSize(1);
  }

  @Test
  void shouldRenewTheRegistrationOfAnAgentThatKeepsAsking() {
    // given
    open().resolve("a1", true, 0);

    // when
    open().resolve("a1", true, RENEW_AFTER_MS + 1);

    // then
    assertThat(published)
        .extracting(AgentRegistration::getRegisteredAtMs)
        .containsExactly(0L, 101L);
  }

  @Test
  void shouldNotRenewBecauseOfADecisionNobodyAskedFor() {
    // given
    open().resolve("a1", true, 0);

    // when
    open().resolve("a1", false, RENEW_AFTER_MS + 1);

    // then
    assertThat(published).hasSize(1);
  }

  @Test
  void shouldNeverRewriteAnOperatorsRegistration() {
    // given
    table.put(operatorMade("a1", "team-x.answers", null));

    // when
    open().resolve("a1", true, 1_000_000);

    // then
    assertThat(published).isEmpty();
  }

  @Test
  void shouldRefuseRetiredAgentsInClosedMode() {
    // given
    table.retire("a1", 0);

    // when
    Resolution resolution = closed().resolve("a1", true, 0);

    // then
    assertThat(resolution.refusal()).isEqualTo(DropReason.RETIRED);
  }

  @Test
  void shouldTakeARetiredAgentBackOnlyIfItAsksInOpenMode() {
    // given
    table.retire("a1", 0);

    // when
    Resolution late = open().resolve("a1", false, 0);
    Resolution asked = open().resolve("a1", true, 0);

    // then
    assertThat(late.refusal()).isEqualTo(DropReason.RETIRED);
    assertThat(asked.route()).isNotNull();
    assertThat(table.isRetired("a1")).isFalse();
  }

  @Test
  void shouldRegisterNoMoreAgentsThanTheBound() {
    // given
    open().resolve("a1", true, 0);
    open().resolve("a2", true, 0);

    // when
    Resolution third = open().resolve("a3", true, 0);

    // then
    assertThat(third.refusal()).isEqualTo(DropReason.REGISTRY_FULL);
    assertThat(published).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a/b", "a b", "ä"})
  void shouldRefuseIdsOutOfTheirGrammar(String agentId) {
    // when
    Resolution resolution = open().resolve(agentId, true, 0);

    // then
    assertThat(resolution.refusal()).isEqualTo(DropReason.INVALID_AGENT);
    assertThat(published).isEmpty();
  }

  @Test
  void shouldSendMembersDecisionsWhereTheirGroupIsRegistered() {
    // given
    table.put(withMembers("gw"));

    // when
    Resolution resolution = closed().resolve("gw:session-1", true, 0);

    // then
    assertThat(resolution.route()).isEqualTo(new Route("fairway.replies.gw", 0, true));
  }

  @Test
  void shouldNotRegisterMembersInOpenMode() {
    // given
    table.put(withMembers("gw"));

    // when
    Resolution resolution = open().resolve("gw:session-1", true, 0);

    // then
    assertThat(resolution.route()).isEqualTo(new Route("fairway.replies.gw", 0, true));
    assertThat(published).isEmpty();
  }

  @Test
  void shouldTakeAMemberThatRegisteredByAskingIntoItsGroup() {
    // given
    open().resolve("gw:session-1", true, 0);

    // when
    table.put(withMembers("gw"));

    // then
    assertThat(open().resolve("gw:session-1", true, 0).route().topic())
        .isEqualTo("fairway.replies.gw");
  }

  @Test
  void shouldLeaveAMemberThatAnOperatorRegisteredItsOwnAddress() {
    // given
    table.put(withMembers("gw"));
    table.put(operatorMade("gw:session-1", "team-x.answers", null));

    // when
    Resolution resolution = closed().resolve("gw:session-1", true, 0);

    // then
    assertThat(resolution.route().topic()).isEqualTo("team-x.answers");
  }

  @Test
  void shouldNotTakeOthersForMembers() {
    // given: one registration without members, one with
    table.put(operatorMade("solo", null, null));
    table.put(withMembers("gw"));

    // when / then
    assertThat(closed().resolve("solo:session-1", true, 0).refusal())
        .isEqualTo(DropReason.UNREGISTERED);
    assertThat(closed().resolve("gw2:session-1", true, 0).refusal())
        .isEqualTo(DropReason.UNREGISTERED);
    assertThat(closed().resolve(":gw", true, 0).refusal()).isEqualTo(DropReason.UNREGISTERED);
  }

  @Test
  void shouldRefuseAMemberThatWasRetired() {
    // given
    table.put(withMembers("gw"));
    table.retire("gw:session-1", 0);

    // when
    Resolution resolution = closed().resolve("gw:session-1", true, 0);

    // then
    assertThat(resolution.refusal()).isEqualTo(DropReason.RETIRED);
  }

  private AgentDirectory open() {
    return directory(true);
  }

  private AgentDirectory closed() {
    return directory(false);
  }

  private AgentDirectory directory(boolean open) {
    return new AgentDirectory(
        new Topics(),
        open,
        RENEW_AFTER_MS,
        table,
        (id, registration) -> published.add(registration));
  }

  private static AgentRegistration operatorMade(String agentId, String topic, Integer partition) {
    return new AgentRegistration(agentId, topic, partition, "operator", 0L, false, Map.of());
  }

  private static AgentRegistration withMembers(String agentId) {
    return new AgentRegistration(agentId, null, null, "operator", 0L, true, Map.of());
  }
}
