package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One form for whatever is wrong with a command line: expected, found, and where to look. */
class UsageErrorsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          ``                                   | Expected one of the commands [up, demo, quota, agent, status, leases, queue, why, dead-letters, dry-run, explain, simulate, replay], but found none. | fairway
          statsu                               | Expected one of the commands [up, demo, quota, agent, status, leases, queue, why, dead-letters, dry-run, explain, simulate, replay], but found 'statsu'. Did you mean 'status'? | fairway
          quota                                | Expected one of the commands [apply, list, get, pause, resume, drain, clear, remove], but found none. | fairway quota
          quota aply f.yaml                    | Expected one of the commands [apply, list, get, pause, resume, drain, clear, remove], but found 'aply'. Did you mean 'apply'? | fairway quota
          quota --data d list                  | Expected --data behind a command, as in 'fairway quota apply --data DIR', but found it before. | fairway quota
          --data d status                      | Expected --data behind a command, as in 'fairway up --data DIR', but found it before. | fairway
          status --no-such-option              | Expected an option that 'fairway status' has, but found '--no-such-option'. | fairway status
          status --wach                        | Expected an option that 'fairway status' has, but found '--wach'. Did you mean '--watch'? | fairway status
          why r1 r2                            | Expected no more arguments, but found 'r2'. | fairway why
          leases r1                            | Expected no arguments but options, but found 'r1'. | fairway leases
          why                                  | Expected REQUEST_ID, but found nothing. | fairway why
          quota apply                          | Expected FILE, but found nothing. | fairway quota apply
          agent add                            | Expected AGENT, but found nothing. | fairway agent add
          agent mode gateway                   | Expected GATEWAY QUOTA, but found nothing for QUOTA. | fairway agent mode
          agent mode gateway k/q               | Expected a MODE or --unset, but found neither. | fairway agent mode
          agent mode gateway k/q OBSERVE --unset | Expected a MODE or --unset, but found both. | fairway agent mode
          agent mode gateway k/q HALF          | MODE: expected one of [ENFORCE, OBSERVE], but found 'HALF'. | fairway agent mode
          leases --limit                       | --limit: expected N, but found nothing. | fairway leases
          leases --limit --watch               | --limit: expected N, but found '--watch'. | fairway leases
          leases --limit many                  | --limit: expected a whole number from 1 to 2147483647, but found 'many'. | fairway leases
          leases --limit 1 --limit 2           | Expected --limit once, but found it again. | fairway leases
          status --watch=2                     | --watch: expected no value, but found '2'. | fairway status
          agent add a --reply-partition x      | --reply-partition: expected a whole number up to 2147483647, but found 'x'. | fairway agent add
          up --port 70000                      | --port: expected a port from 1 to 65535, or 0 to have one chosen, but found '70000'. | fairway up
          up --registry ftp://h                | --registry: expected a URL such as http://127.0.0.1:8081, but found 'ftp://h'. | fairway up
          status --coordinator nonsense        | --coordinator: expected a URL such as http://127.0.0.1:8090, but found 'nonsense'. | fairway status
          why r1 --since soon                  | --since: expected a duration such as 500ms, 90s, 3m or 1h30m, but found 'soon'. | fairway why
          dead-letters list --reason NOPE      | --reason: expected one of [MAGIC_BYTE, TRUNCATED, TRAILING_BYTES, MALFORMED, UNKNOWN_SCHEMA, INCOMPATIBLE_SCHEMA, REGISTRY_UNAVAILABLE, TOO_LARGE, NO_VALUE, KEY_MISMATCH, FOREIGN_KEY, INVALID, ENGINE_FAILED], but found 'NOPE'. | fairway dead-letters list
          dead-letters redrive                 | Expected either places such as 0:17, or --all with --reason, but found neither. 'fairway dead-letters list' shows both. | fairway dead-letters redrive
          dead-letters redrive --all           | Expected either places such as 0:17, or --all with --reason, but found --all without --reason. 'fairway dead-letters list' shows both. | fairway dead-letters redrive
          dead-letters redrive 0:1 --all --reason INVALID | Expected either places such as 0:17, or --all with --reason, but found both. 'fairway dead-letters list' shows both. | fairway dead-letters redrive
          replay                               | Expected one of --verify, --export, but found none. | fairway replay
          replay --verify --export j.jsonl     | Expected only one of --verify, --export=FILE, but found more of them. | fairway replay
          """)
  void shouldSayWhatWasExpectedAndFound(String line, String message, String command) {
    // given
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();

    // when
    int code =
        Fairway.run(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            line.isEmpty() ? new String[0] : line.split(" "));

    // then
    assertThat(code).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString().lines())
        .containsExactly("fairway: " + message, "See '" + command + " --help'.");
  }
}
