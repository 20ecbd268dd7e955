package dev.fairway.cli.demo.emulator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** A check that uses the checked code proves nothing: the emulator is Fairway's other side. */
@AnalyzeClasses(
    packages = "dev.fairway.cli.demo.emulator",
    importOptions = ImportOption.DoNotIncludeTests.class)
class EmulatorIndependenceTest {

  @ArchTest
  static final ArchRule THE_EMULATOR_KNOWS_NOTHING_OF_FAIRWAY =
      noClasses()
          .that()
          .resideInAPackage("dev.fairway.cli.demo.emulator..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.fairway.admission..",
              "dev.fairway.agent..",
              "dev.fairway.dispatcher..",
              "dev.fairway.replay..",
              "dev.fairway.schemas..",
              "dev.fairway.cli.demo",
              "dev.fairway.cli.demo.fleet..",
              "org.apache.kafka..");
}
