package dev.fairway.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.fairway.admission.TransactionSettings;
import dev.fairway.schemas.service.FileTrouble;

/** The place of the command line: on top of everything, and under nothing. */
@AnalyzeClasses(packages = "dev.fairway", importOptions = ImportOption.DoNotIncludeTests.class)
class DependencyTest {

  /** Benchmarks may, and are not on this class path. */
  @ArchTest
  static final ArchRule NOBODY_DEPENDS_ON_THE_COMMAND_LINE =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.fairway.cli..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.fairway.cli..");

  /**
   * So tests of other kinds can run a broker without anything else of Fairway; exceptions: topic
   * names, and the settings of the broker that the coordinator checks at its start.
   */
  @ArchTest
  static final ArchRule EMBEDDED_KAFKA_KNOWS_KAFKA_AND_TOPIC_NAMES =
      classes()
          .that()
          .resideInAPackage("dev.fairway.cli.embedded")
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                      "java..",
                      "kafka..",
                      "scala..",
                      "org.apache.kafka..",
                      "org.slf4j..",
                      "picocli..",
                      "dev.fairway.schemas",
                      "dev.fairway.cli.embedded")
                  .or(type(TransactionSettings.class))
                  .or(type(FileTrouble.class))
                  .or(type(UsageErrors.class)));

  /** What commands do can be used and tested without a command line. */
  @ArchTest
  static final ArchRule ONLY_COMMANDS_KNOW_PICOCLI =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.fairway.cli.ops..",
              "dev.fairway.cli.up..",
              "dev.fairway.cli.config..",
              "dev.fairway.cli.registry..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("picocli..");
}
