package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.fairway.cli.embedded.EmbeddedKafka;
import dev.fairway.cli.embedded.TopicLayout;
import dev.fairway.cli.embedded.TopicSetup;
import dev.fairway.cli.embedded.TopicSetupException;
import dev.fairway.cli.embedded.TopicSetupMain;
import dev.fairway.schemas.Topics;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class TopicSetupIT {

  private final Topics topics = new Topics(TestCluster.newPrefix("setup"));
  private Admin admin;
  private TopicSetup setup;

  @BeforeEach
  void connect() {
    admin = TestCluster.admin();
    setup = new TopicSetup(admin);
  }

  @AfterEach
  void disconnect() {
    admin.close();
  }

  @Test
  void shouldCreateEveryTopicOnce() throws Exception {
    // when
    List<String> first = setup.ensure(topics, TopicLayout.EMBEDDED);
    List<String> second = setup.ensure(topics, TopicLayout.EMBEDDED);

    // then
    assertThat(first)
        .containsExactlyInAnyOrder(
            topics.quotas(),
            topics.requests(),
            topics.settlements(),
            topics.tasks(),
            topics.transfers(),
            topics.agents(),
            topics.journal(),
            topics.deadLetters());
    assertThat(second).isEmpty();
    assertThat(setting(topics.requests(), "message.timestamp.type")).isEqualTo("LogAppendTime");
    assertThat(setting(topics.requests(), "retention.ms")).isEqualTo("86400000");
    assertThat(setting(topics.journal(), "retention.ms")).isEqualTo("604800000");
    assertThat(setting(topics.quotas(), "cleanup.policy")).isEqualTo("compact");
    assertThat(partitions(topics.settlements())).isEqualTo(4);
    assertThat(partitions(topics.agents())).isEqualTo(1);
  }

  @Test
  void shouldNameWhatOneBrokerTakesAndSayThatAllIsThere() {
    // given
    String[] cluster = {"--bootstrap", TestCluster.bootstrapServers(), "--prefix", topics.prefix()};
    String[] alone = Arrays.copyOf(cluster, 8);
    alone[4] = "--replication-factor";
    alone[5] = "1";
    alone[6] = "--min-insync-replicas";
    alone[7] = "1";
    StringWriter told = new StringWriter();
    CommandLine command =
        TopicSetupMain.commandLine()
            .setOut(new PrintWriter(told, true))
            .setErr(new PrintWriter(told, true));

    // when / then
    assertThat(command.execute(cluster)).isEqualTo(1);
    assertThat(told.toString())
        .contains("on one broker: --replication-factor 1 --min-insync-replicas 1");
    assertThat(command.execute(alone)).isZero();
    assertThat(told.toString()).contains("created [" + topics.agents());
    assertThat(command.execute(alone)).isZero();
    assertThat(told.toString()).contains("all topics are there already").doesNotContain("[]");
  }

  @Test
  void shouldTakeThePartitionCountOfTopicsThatExist() throws Exception {
    create(topics.requests(), 7, Map.of("message.timestamp.type", "LogAppendTime"));

    setup.ensure(topics, TopicLayout.EMBEDDED);

    assertThat(partitions(topics.journal())).isEqualTo(7);
  }

  @Test
  void shouldRefuseTopicsThatAreNotCoPartitioned() throws Exception {
    create(topics.requests(), 2, Map.of("message.timestamp.type", "LogAppendTime"));
    create(topics.settlements(), 3, Map.of("message.timestamp.type", "LogAppendTime"));

    assertThatThrownBy(() -> setup.ensure(topics, TopicLayout.EMBEDDED))
        .isInstanceOf(TopicSetupException.class)
        .hasMessageContaining("Expected the same number of partitions")
        .hasMessageContaining("2=[" + topics.requests() + "]")
        .hasMessageContaining("3=[" + topics.settlements() + "]");
  }

  @Test
  void shouldRefuseTopicsThatTrustAProducersClockOrForgetQuotas() throws Exception {
    create(topics.requests(), 4, Map.of());
    create(topics.quotas(), 4, Map.of("message.timestamp.type", "LogAppendTime"));

    assertThatThrownBy(() -> setup.ensure(topics, TopicLayout.EMBEDDED))
        .hasMessageContaining(
            "Expected message.timestamp.type=LogAppendTime on topic " + topics.requests())
        .hasMessageContaining("but found CreateTime")
        .hasMessageContaining("Expected cleanup.policy=compact on topic " + topics.quotas());
  }

  @Test
  void shouldWarnOfDefaultTransactionSettingsOnly(@TempDir Path folder) {
    Map<String, String> defaults =
        Map.of(
            "add.partitions.to.txn.retry.backoff.ms", "20",
            "add.partitions.to.txn.retry.backoff.max.ms", "100",
            "group.coordinator.append.linger.ms", "-1");
    try (EmbeddedKafka plain = EmbeddedKafka.start(folder, 0, defaults);
        Admin plainAdmin = Admin.create(Map.of("bootstrap.servers", plain.bootstrapServers()))) {
      assertThat(new TopicSetup(plainAdmin).warnings())
          .hasSize(3)
          .anyMatch(
              w ->
                  w.startsWith(
                      "Expected add.partitions.to.txn.retry.backoff.ms=1 on broker 1, but found 20"));
    }
    assertThat(setup.warnings()).isEmpty();
  }

  private void create(String topic, int partitions, Map<String, String> config) throws Exception {
    admin
        .createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(config)))
        .all()
        .get(30, TimeUnit.SECONDS);
    await().until(() -> TestCluster.topics(topic).contains(topic));
  }

  private int partitions(String topic) throws Exception {
    return admin
        .describeTopics(List.of(topic))
        .allTopicNames()
        .get(30, TimeUnit.SECONDS)
        .get(topic)
        .partitions()
        .size();
  }

  private String setting(String topic, String name) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    Config config =
        admin.describeConfigs(List.of(resource)).all().get(30, TimeUnit.SECONDS).get(resource);
    return config.get(name).value();
  }
}
