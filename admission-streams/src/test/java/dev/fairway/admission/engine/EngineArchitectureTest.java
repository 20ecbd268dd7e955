package dev.fairway.admission.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.fairway.admission.engine.queue.FairQueue;
import java.time.Clock;
import java.time.Instant;
import java.util.Random;
import java.util.UUID;

/**
 * What makes the engine what it is. That only the state package changes state, the compiler holds.
 */
@AnalyzeClasses(packages = "dev.fairway.admission.engine", importOptions = DoNotIncludeTests.class)
class EngineArchitectureTest {

  @ArchTest
  static final ArchRule shouldDependOnTheJdkAlone =
      classes()
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "dev.fairway.admission.engine..",
              "java.lang..",
              "java.util..",
              "java.math..",
              "java.nio.charset..",
              "java.security..")
          .because("the engine runs in a topology, a simulator, a replay and a loop alike");

  @ArchTest
  static final ArchRule shouldReadNoClockAndDrawNoRandomNumber =
      noClasses()
          .should()
          .dependOnClassesThat()
          .belongToAnyOf(Clock.class, Instant.class, Random.class, UUID.class)
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(Math.class, "random")
          .because(
              "time is an argument and ids are derived, so that a journal decides the same again");

  @ArchTest
  static final ArchRule shouldChangeTheQueueInTheStatePackageOnly =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.fairway.admission.engine.state")
          .and()
          .haveNameNotMatching(".*FairQueue(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .belongToAnyOf(FairQueue.class)
          .because("handlers read the queue through AdmissionOrder; only the applier changes it");
}
