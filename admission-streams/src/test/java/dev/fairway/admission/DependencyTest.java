package dev.fairway.admission;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Who may depend on whom in this module; the engine has its own test. */
@AnalyzeClasses(
    packages = "dev.fairway.admission",
    importOptions = ImportOption.DoNotIncludeTests.class)
class DependencyTest {

  /** Exception: Avro's own binary coding, for rows as bytes. */
  @ArchTest
  static final ArchRule MAPPING_STANDS_ON_ENGINE_AND_SCHEMAS =
      classes()
          .that()
          .resideInAPackage("dev.fairway.admission.mapping")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "org.apache.avro..",
              "dev.fairway.schemas",
              "dev.fairway.admission.engine..",
              "dev.fairway.admission.mapping");

  @ArchTest
  static final ArchRule TOPOLOGY_STANDS_ON_ENGINE_MAPPING_AND_STREAMS =
      classes()
          .that()
          .resideInAPackage("dev.fairway.admission.topology")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "org.apache.kafka..",
              "org.slf4j..",
              "dev.fairway.schemas..",
              "dev.fairway.admission.engine..",
              "dev.fairway.admission.mapping",
              "dev.fairway.admission.topology");
}
