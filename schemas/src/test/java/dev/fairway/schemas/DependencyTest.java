package dev.fairway.schemas;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The module stands on the JDK, Avro, kafka-clients and slf4j. */
@AnalyzeClasses(
    packages = "dev.fairway.schemas",
    importOptions = ImportOption.DoNotIncludeTests.class)
class DependencyTest {

  /**
   * Exception: {@code serde} may use Jackson, which comes with Avro, to read the registry's answers
   * and to take Java-only properties out of a schema.
   */
  @ArchTest
  static final ArchRule SERDE_STANDS_ON_AVRO_KAFKA_SLF4J_AND_JACKSON =
      classes()
          .that()
          .resideInAPackage("dev.fairway.schemas.serde")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "org.apache.avro..",
              "org.apache.kafka.common..",
              "org.slf4j..",
              "com.fasterxml.jackson..",
              "dev.fairway.schemas..");

  @ArchTest
  static final ArchRule THE_REST_STANDS_ON_AVRO_AND_KAFKA =
      classes()
          .that()
          .resideInAPackage("dev.fairway.schemas")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..", "org.apache.avro..", "org.apache.kafka..", "dev.fairway.schemas");

  @ArchTest
  static final ArchRule NOTHING_DEPENDS_ON_THE_SERDE_BUT_ITSELF =
      noClasses()
          .that(not(resideInAPackage("dev.fairway.schemas.serde")))
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.fairway.schemas.serde");

  @ArchTest
  static final ArchRule SERVICE_STANDS_ON_KAFKA_AND_TOPIC_NAMES =
      classes()
          .that()
          .resideInAPackage("dev.fairway.schemas.service")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "org.apache.kafka.common.config..",
              "dev.fairway.schemas",
              "dev.fairway.schemas.service");
}
