package dev.fairway.replay;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.fairway.replay.world.Admission;

/**
 * The module stands on the engine, its mapping and the schemas; its ledger on none of the engine.
 */
@AnalyzeClasses(
    packages = "dev.fairway.replay",
    importOptions = ImportOption.DoNotIncludeTests.class)
class DependencyTest {

  /**
   * Jackson for scripts, Avro for journal files, kafka-clients for the journal's topic, and what
   * paints a picture.
   */
  @ArchTest
  static final ArchRule REPLAY_STANDS_ON_ENGINE_MAPPING_AND_SCHEMAS =
      classes()
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "com.fasterxml.jackson..",
              "com.github.weisj.jsvg..",
              "javax.imageio..",
              "javax.swing..",
              "org.apache.avro..",
              "org.apache.kafka.clients.consumer..",
              "org.apache.kafka.common..",
              "dev.fairway.replay..",
              "dev.fairway.schemas..",
              "dev.fairway.admission.engine..",
              "dev.fairway.admission.mapping..");

  /**
   * A yardstick that uses what it measures measures nothing. Records of the protocol are no engine.
   */
  @ArchTest
  static final ArchRule WORLD_AND_ORACLE_SHARE_NO_CLASS_WITH_THE_ENGINE =
      classes()
          .that()
          .resideInAPackage("dev.fairway.replay.world..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "dev.fairway.replay.world..", "dev.fairway.schemas");

  /** The world has gates, and knows none of those who are behind them. */
  @ArchTest
  static final ArchRule THE_WORLD_DOES_NOT_KNOW_THE_ORACLE =
      noClasses()
          .that()
          .resideInAPackage("dev.fairway.replay.world")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.fairway.replay.world.clairvoyant..");

  /**
   * A policy sees records of the protocol and what an operator knows; by nothing that it uses, nor
   * by what that uses in turn, does it come to the world.
   */
  @ArchTest
  static final ArchRule POLICIES_NEVER_SEE_THE_TRUTH =
      noClasses()
          .that()
          .areAssignableTo(Admission.class)
          .or()
          .areAssignableTo("dev.fairway.replay.simulate.FleetQuota")
          .should()
          .transitivelyDependOnClassesThat(
              resideInAPackage("dev.fairway.replay.world..")
                  .and(not(belongToAnyOf(Admission.class))));

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
