package dev.fairway.dispatcher;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the module may depend on. */
@AnalyzeClasses(
    packages = "dev.fairway.dispatcher",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  /**
   * The schemas and kafka-clients. Exceptions: Micrometer and slf4j, because a process that cannot
   * be watched cannot be operated; and Avro's base classes, which the generated records extend.
   */
  @ArchTest
  static final ArchRule STANDS_ON_SCHEMAS_AND_KAFKA_CLIENTS =
      classes()
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "com.sun.net.httpserver..",
              "dev.fairway.dispatcher..",
              "dev.fairway.schemas..",
              "org.apache.kafka.clients..",
              "org.apache.kafka.common..",
              "io.micrometer..",
              "org.slf4j..",
              "org.apache.avro..");

  /** Only the clock reads the wall clock, so that no rule depends on it unseen. */
  @ArchTest
  static final ArchRule ONLY_THE_CLOCK_READS_THE_WALL_CLOCK =
      noClasses()
          .that()
          .doNotHaveSimpleName("MonotonicClock")
          .should()
          .callMethod(System.class, "currentTimeMillis");
}
