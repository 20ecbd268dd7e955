package dev.fairway.replay;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/**
 * The module stands on the engine, its mapping and the schemas; its ledger on none of the engine.
 */
@AnalyzeClasses(
    packages = "dev.fairway.replay",
    importOptions = ImportOption.DoNotIncludeTests.class)
class DependencyTest {

  /** Jackson for scripts, Avro for journal files and kafka-clients for the journal's topic. */
  @ArchTest
  static final ArchRule REPLAY_STANDS_ON_ENGINE_MAPPING_AND_SCHEMAS =
      classes()
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "com.fasterxml.jackson..",
              "org.apache.avro..",
              "org.apache.kafka.clients.consumer..",
              "org.apache.kafka.common..",
              "dev.fairway.replay..",
              "dev.fairway.schemas..",
              "dev.fairway.admission.engine..",
              "dev.fairway.admission.mapping..");

  /** A check that uses the checked code proves nothing. */
  @ArchTest
  static final ArchRule THE_LEDGER_SHARES_NO_CLASS_WITH_THE_ENGINE =
      noClasses()
          .that()
          .haveNameMatching(".*\\.(Conservation|Findings|\\w*Ledger\\w*)(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.fairway.admission..");
}
