package dev.fairway.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.internals.Topic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicsTest {

  @Test
  void shouldNameTheTopicsOfTheProtocol() {
    Topics topics = new Topics();
    assertThat(
            List.of(
                topics.quotas(),
                topics.requests(),
                topics.settlements(),
                topics.tasks(),
                topics.transfers(),
                topics.agents(),
                topics.journal(),
                topics.deadLetters(),
                topics.replyPrefix(),
                topics.reply("a1")))
        .containsExactly(
            "fairway.quotas",
            "fairway.requests",
            "fairway.settlements",
            "fairway.tasks",
            "fairway.transfers",
            "fairway.agents",
            "fairway.journal",
            "fairway.dead-letters",
            "fairway.replies.",
            "fairway.replies.a1");
  }

  @Test
  void shouldUseTheConfiguredPrefix() {
    assertThat(new Topics("team-a.").requests()).isEqualTo("team-a.requests");
    assertThat(new Topics("team-a.").reply("x")).isEqualTo("team-a.replies.x");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a/", "ä", "12345678901234567890123456789012345678"})
  void shouldRefuseAPrefixThatMakesNoTopicName(String prefix) {
    assertThatThrownBy(() -> new Topics(prefix))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Expected a topic prefix")
        .hasMessageContaining(prefix);
  }

  @Test
  void shouldRefuseAReplyTopicForAnIdOutOfGrammar() {
    assertThatThrownBy(() -> new Topics().reply("../journal"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Expected an agent id");
    assertThatThrownBy(() -> new Topics().reply(null)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldGiveEveryAgentALegalTopicOfItsOwn() {
    // given
    Topics topics = new Topics("p".repeat(37));
    List<String> agents =
        List.of("a:b", "a.b", "a-b", "a_b", "613a62", ":", "-", "x".repeat(100), ":".repeat(100));

    // when
    Set<String> names = new HashSet<>();
    for (String agent : agents) {
      names.add(topics.reply(agent));
    }

    // then
    assertThat(names).hasSameSizeAs(agents).allSatisfy(Topic::validate);
    assertThat(topics.reply("a:b")).isEqualTo("p".repeat(37) + "replies-hex.613a62");
  }
}
