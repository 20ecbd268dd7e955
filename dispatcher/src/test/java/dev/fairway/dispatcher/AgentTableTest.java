package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.AgentRegistration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AgentTableTest {

  private final AgentTable table = new AgentTable(2);

  @Test
  void shouldTakeChangesOfKnownAgentsWhenFull() {
    // given
    table.put(registration("a1", "dispatcher", 0));
    table.put(registration("a2", "dispatcher", 0));

    // when / then
    assertThat(table.put(registration("a1", "dispatcher", 9))).isTrue();
    assertThat(table.put(registration("a3", "dispatcher", 0))).isFalse();
    assertThat(table.get("a1").getRegisteredAtMs()).isEqualTo(9);
    assertThat(table.get("a3")).isNull();
    assertThat(table.size()).isEqualTo(2);
  }

  @Test
  void shouldMakeRoomWhenAnAgentIsRetired() {
    // given
    table.put(registration("a1", "dispatcher", 0));
    table.put(registration("a2", "dispatcher", 0));

    // when
    table.retire("a1", 5);

    // then
    assertThat(table.isRetired("a1")).isTrue();
    assertThat(table.put(registration("a3", "dispatcher", 0))).isTrue();
  }

  @Test
  void shouldForgetTheOldestRetiredBeyondTheBound() {
    // when
    table.retire("a1", 1);
    table.retire("a2", 2);
    table.retire("a3", 3);

    // then
    assertThat(table.isRetired("a1")).isFalse();
    assertThat(table.isRetired("a2")).isTrue();
    assertThat(table.isRetired("a3")).isTrue();
  }

  @Test
  void shouldListOnlyItsOwnRegistrationsAsIdle() {
    // given
    table.put(registration("a1", "dispatcher", 10));
    table.put(registration("a2", "operator", 10));

    // when / then
    assertThat(table.ownRegistrationsBefore(11, 10))
        .extracting(AgentRegistration::getAgentId)
        .containsExactly("a1");
    assertThat(table.ownRegistrationsBefore(10, 10)).isEmpty();
    assertThat(table.ownRegistrationsBefore(11, 0)).isEmpty();
  }

  @Test
  void shouldListTopicsOfTheRetiredUntilTheyAreDeletedOrTheAgentIsBack() {
    // given
    table.retire("a1", 10);
    table.retire("a2", 20);

    // when / then
    assertThat(table.topicsLeftBefore(9, 10)).isEmpty();
    assertThat(table.topicsLeftBefore(20, 10)).containsExactly("a1", "a2");
    table.topicDeleted("a1");
    assertThat(table.topicsLeftBefore(20, 10)).containsExactly("a2");
    assertThat(table.isRetired("a1")).isTrue();
    table.put(registration("a2", "dispatcher", 30));
    assertThat(table.topicsLeftBefore(20, 10)).isEmpty();
  }

  @Test
  void shouldListTheTopicsThatRegistrationsName() {
    // given: such a topic is not deleted because an agent of that name is retired
    table.put(
        new AgentRegistration("a1", "fairway.replies.shared", 0, "operator", 0L, false, Map.of()));
    table.put(registration("a2", "operator", 0));

    // when / then
    assertThat(table.namedTopics()).containsExactly("fairway.replies.shared");
  }

  private static AgentRegistration registration(String agentId, String by, long atMs) {
    return new AgentRegistration(agentId, null, null, by, atMs, false, Map.of());
  }
}
