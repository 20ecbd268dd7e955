package dev.fairway.it.crash;

import dev.fairway.cli.demo.emulator.LedgerEntry;
import dev.fairway.it.crash.Differences.Kind;
import dev.fairway.it.crash.Evidence.Agent;
import dev.fairway.it.crash.Evidence.Delivery;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/** One run on one screen. */
final class Report {
  private final StringBuilder text = new StringBuilder();

  private Report() {}

  static String of(long seed, Evidence evidence, Join.Result join, List<CrashAgent> agents) {
    Report report = new Report();
    report.run(seed, evidence, agents);
    report.traffic(evidence, join);
    report.tokens(evidence, join);
    report.recovery(evidence);
    report.differences(join);
    return report.text.toString();
  }

  private void run(long seed, Evidence evidence, List<CrashAgent> agents) {
    List<Life> lives = evidence.lives();
    long starting = lives.stream().filter(life -> life.readyAtMs() == null).count();
    line("kill -9 of up under load, seed %d", seed);
    line("kills                    %6d   (%d while it started)", lives.size() - 1, starting);
    line("agents                   %6d", agents.size());
    line(
        "calls without a lease    %6d   withdrawn, %d rejected, %d timed out",
        agents.stream().mapToInt(agent -> agent.ends().withdrawn().get()).sum(),
        agents.stream().mapToInt(agent -> agent.ends().rejected().get()).sum(),
        agents.stream().mapToInt(agent -> agent.ends().timedOut().get()).sum());
  }

  private void traffic(Evidence evidence, Join.Result join) {
    long requests =
        evidence.inputs().stream().filter(i -> i.value() instanceof LeaseRequest).count();
    long deliveries = evidence.agents().stream().mapToLong(a -> a.received().size()).sum();
    long granted =
        evidence.agents().stream()
            .flatMap(agent -> agent.received().stream())
            .filter(delivery -> delivery.decision().getGranted() != null)
            .map(delivery -> delivery.decision().getGranted().getLeaseId())
            .distinct()
            .count();
    long uses = evidence.agents().stream().mapToLong(agent -> agent.uses().size()).sum();
    long late = 0;
    long expired = 0;
    Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    for (JournalView.LeaseStory lease : join.journal().leases.values()) {
      lease.settled.forEach(settled -> outcomes.merge(settled.getOutcome(), 1, Integer::sum));
      late += lease.settled.stream().filter(LeaseSettled::getLate).count();
      expired += lease.settled.isEmpty() ? 1 : 0;
    }
    line("records in               %6d   %d of them requests", evidence.inputs().size(), requests);
    line("journal                  %6d   records", evidence.journal().size());
    line("grants                   %6d   by distinct lease", join.journal().leases.size());
    line("  received               %6d   %d handed to the agents' loops", granted, uses);
    line(
        "  not deliverable        %6d   up was down until they had ended",
        join.undeliverableLeases());
    line("decisions lapsed         %6d   likewise, each time they were told", join.undeliverable());
    line("deliveries               %6d   %d of them again", deliveries, join.duplicates());
    line(
        "settlements              %6d   %s, %d late; %d leases expired unsettled",
        outcomes.values().stream().mapToInt(Integer::intValue).sum(), outcomes, late, expired);
    Map<Integer, Integer> statuses = new HashMap<>();
    evidence.ledger().forEach(call -> statuses.merge(call.status(), 1, Integer::sum));
    line("provider's calls         %6d   by status %s", evidence.ledger().size(), statuses);
  }

  private void tokens(Evidence evidence, Join.Result join) {
    Map<String, LedgerEntry> calls = new HashMap<>();
    evidence.ledger().forEach(call -> calls.put(call.call(), call));
    long provider = 0;
    long settled = 0;
    for (Map.Entry<String, JournalView.LeaseStory> lease : join.journal().leases.entrySet()) {
      for (LeaseSettled end : lease.getValue().settled) {
        LedgerEntry call = calls.get(lease.getKey());
        if (end.getOutcome() == Outcome.SUCCEEDED && call != null) {
          provider += call.inputTokens() + call.outputTokens();
          settled += end.getActual().getInputTokens() + end.getActual().getOutputTokens();
        }
      }
    }
    line("tokens of successes      %6d   in the provider's ledger, %d settled", provider, settled);
  }

  /** From each kill to the first decision made after it, where that came before the next kill. */
  static List<Long> recoveriesMs(Evidence evidence) {
    List<Long> recoveries = new ArrayList<>();
    for (int i = 0; i + 1 < evidence.lives().size(); i++) {
      long killedAtMs = evidence.lives().get(i).endedAtMs();
      long untilMs = evidence.lives().get(i + 1).endedAtMs();
      OptionalLong first =
          evidence.agents().stream()
              .map(Agent::received)
              .flatMap(List::stream)
              .filter(d -> d.decision().getDecidedAtMs() > killedAtMs)
              .mapToLong(Delivery::receivedAtMs)
              .filter(receivedAtMs -> receivedAtMs < untilMs)
              .min();
      first.ifPresent(receivedAtMs -> recoveries.add(receivedAtMs - killedAtMs));
    }
    return recoveries.stream().sorted().toList();
  }

  private void recovery(Evidence evidence) {
    List<Long> recoveries = recoveriesMs(evidence);
    List<Long> starts =
        evidence.lives().stream()
            .filter(life -> life.readyAtMs() != null)
            .map(life -> life.readyAtMs() - life.startedAtMs())
            .sorted()
            .toList();
    line(
        "kill to first decision   %6d   ms p50, %d max, of %d that came before the next kill",
        recoveries.isEmpty() ? 0 : recoveries.get(recoveries.size() / 2),
        recoveries.isEmpty() ? 0 : recoveries.get(recoveries.size() - 1),
        recoveries.size());
    line(
        "start to ready           %6d   ms p50, %d max",
        starts.get(starts.size() / 2), starts.get(starts.size() - 1));
  }

  private void differences(Join.Result join) {
    for (Kind kind : Kind.values()) {
      line("%6d  %s", join.differences().of(kind), kind);
    }
  }

  private void line(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
