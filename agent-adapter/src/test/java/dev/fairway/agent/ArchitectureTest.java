package dev.fairway.agent;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An agent embeds this module: what it drags in, every agent drags in. */
@AnalyzeClasses(
    packages = "dev.fairway.agent",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule clientDependsOnSchemasAndKafkaClientsAlone =
      classes()
          .that()
          .resideInAPackage("dev.fairway.agent")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "dev.fairway.agent",
              "dev.fairway.agent.fallback",
              "dev.fairway.agent.provider",
              "dev.fairway.schemas..",
              "org.apache.avro.specific",
              "org.apache.kafka.clients..",
              "org.apache.kafka.common..",
              "org.slf4j");

  /** Parsers can be used, and trusted, without anything around them. */
  @ArchTest
  static final ArchRule providerProfilesDependOnTheJdkAndAJsonParserAlone =
      classes()
          .that()
          .resideInAPackage("dev.fairway.agent.provider..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "com.fasterxml.jackson.core..",
              "com.fasterxml.jackson.databind..",
              "dev.fairway.agent.provider..");

  /** Waits, budgets and shares are plain arithmetic. */
  @ArchTest
  static final ArchRule fallbackDependsOnTheJdkAlone =
      classes()
          .that()
          .resideInAPackage("dev.fairway.agent.fallback..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "dev.fairway.agent.fallback..");

  /** Whoever waits without Kafka may keep checkpoints, too. */
  @ArchTest
  static final ArchRule checkpointsDependOnTheClientsTypesAndAJsonParser =
      classes()
          .that()
          .resideInAPackage("dev.fairway.agent.checkpoint..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "com.fasterxml.jackson.core..",
              "com.fasterxml.jackson.databind..",
              "dev.fairway.agent",
              "dev.fairway.agent.checkpoint..",
              "dev.fairway.agent.provider",
              "dev.fairway.schemas.service");

  /** The gateway's libraries are optional in the module: nobody else may come to need them. */
  @ArchTest
  static final ArchRule onlyTheGatewayKnowsHttpServers =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.fairway.agent.gateway..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("org.eclipse.jetty..", "dev.fairway.agent.gateway..");

  /** Whoever embeds the client may estimate as the gateway does, without the gateway. */
  @ArchTest
  static final ArchRule estimatorsDependOnAJsonParserAndATokenizerAlone =
      classes()
          .that()
          .resideInAPackage("dev.fairway.agent.estimate..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "com.fasterxml.jackson.core..",
              "com.fasterxml.jackson.databind..",
              "com.knuddels.jtokkit..",
              "dev.fairway.agent.estimate..",
              "dev.fairway.agent.fallback");

  /** The tokenizer is optional in the module: only estimators, and who uses them, may need it. */
  @ArchTest
  static final ArchRule onlyEstimatorsKnowTokenizers =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.fairway.agent.estimate..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("com.knuddels..");

  @ArchTest
  static final ArchRule onlyTheGatewayKnowsEstimators =
      noClasses()
          .that()
          .resideOutsideOfPackages("dev.fairway.agent.estimate..", "dev.fairway.agent.gateway..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.fairway.agent.estimate..");

  /** It asks for leases as any agent does. */
  @ArchTest
  static final ArchRule gatewayDependsOnTheClientAndNothingBehindIt =
      classes()
          .that()
          .resideInAPackage("dev.fairway.agent.gateway..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "dev.fairway.agent..",
              "dev.fairway.schemas",
              "dev.fairway.schemas.service",
              "com.fasterxml.jackson..",
              "org.eclipse.jetty..",
              "org.slf4j");

  /** Avro's builders and records are the mapping's business; the rest speaks the client's types. */
  @ArchTest
  static final ArchRule onlyTheStartKnowsTheSerde =
      noClasses()
          .that(not(resideInAnyPackage("dev.fairway.schemas..")))
          .and()
          .doNotHaveSimpleName("ClientStart")
          .and()
          .doNotHaveSimpleName("KafkaClients")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.fairway.schemas.serde");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "org.apache.kafka.streams.KafkaStreams",
        "kafka.server.KafkaConfig",
        "org.apache.kafka.server.config.ServerConfigs",
        "org.apache.kafka.controller.QuorumController",
        "io.javalin.Javalin",
        "dev.fairway.admission.engine.AdmissionEngine",
        "dev.fairway.dispatcher.Dispatcher",
        "org.rocksdb.RocksDB"
      })
  void shouldNotFindServersOrStreamsOnTheClasspath(String className) {
    assertThatThrownBy(() -> Class.forName(className, false, getClass().getClassLoader()))
        .isInstanceOf(ClassNotFoundException.class);
  }

  @Test
  void shouldHaveAClasspathOfClientLibrariesOnly() {
    // given: what Maven put there for this module, tests' own libraries included
    String[] entries =
        System.getProperty("java.class.path").split(System.getProperty("path.separator"));

    // when / then
    assertThat(entries).hasSizeGreaterThan(5).anyMatch(entry -> entry.contains("kafka-clients"));
    assertThat(entries)
        .noneMatch(
            entry ->
                entry
                    .substring(entry.lastIndexOf('/') + 1)
                    .matches(
                        "(kafka-streams|kafka_2|kafka-server|kafka-metadata|kafka-raft"
                            + "|rocksdb|scala-|netty-|micrometer-).*"));
  }
}
