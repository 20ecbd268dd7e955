package dev.fairway.replay.invariants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class InvariantsListTest {
  private static final Pattern NAME = Pattern.compile("`([A-Z0-9]+(?:_[A-Z0-9]+)+)`");

  @Test
  void shouldListEveryMutantAndNoOther() throws IOException {
    // given
    Matcher matcher = NAME.matcher(Files.readString(Path.of("../docs/invariants.md")));
    Set<String> listed = new TreeSet<>();
    while (matcher.find()) {
      listed.add(matcher.group(1));
    }

    // when
    Set<String> mutants = new TreeSet<>();
    Arrays.stream(Mutant.values()).map(Enum::name).forEach(mutants::add);
    Arrays.stream(EngineFault.values()).map(Enum::name).forEach(mutants::add);
    mutants.removeIf(name -> name.startsWith("DOES_NOT_WRITE_"));

    // then
    assertThat(listed).isEqualTo(mutants);
  }
}
