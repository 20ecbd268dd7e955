package dev.fairway.admission.engine.oracle;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** An oracle that used the engine would agree with it and prove nothing. */
@AnalyzeClasses(packages = "dev.fairway.admission.engine.oracle")
class SeedOracleIndependenceTest {
  private static final String ORACLE = "dev.fairway.admission.engine.oracle";

  @ArchTest
  static final ArchRule THE_ORACLE_KNOWS_NO_ENGINE =
      noClasses()
          .that()
          .haveNameMatching(
              ".*\\.(SeedOracle|SeedBuckets|SeedCharges|SeedResync|SeedCall|SeedRules|SeedSignal|Rational)(\\$.*)?")
          .should()
          .dependOnClassesThat(
              DescribedPredicate.describe(
                  "are the project's and not the oracle's", SeedOracleIndependenceTest::isForeign));

  private static boolean isForeign(JavaClass type) {
    boolean project = type.getPackageName().startsWith("dev.fairway");
    String name = type.getSimpleName();
    return project && (!type.getPackageName().equals(ORACLE) || name.equals("SeedEdge"));
  }
}
