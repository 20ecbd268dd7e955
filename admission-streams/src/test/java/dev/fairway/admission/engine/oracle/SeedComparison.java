package dev.fairway.admission.engine.oracle;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.oracle.SeedScripts.Kind;
import dev.fairway.admission.engine.oracle.SeedScripts.Line;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs a script through engine and oracle, side by side. */
final class SeedComparison {
  private static final String QUOTA = "k";
  private static final long START_MS = 5_000;
  private static final long TTL_MS = 20_000;
  private static final long MAX_WAIT_MS = 12_000;
  private static final long CLEAN_MS = 180_000;

  private final AdmissionEngine engine = new AdmissionEngine();
  private final SeedOracle oracle;
  private final SeedEdge edge;
  private final Rational tolerance;
  private final List<String> roles;
  private final List<LeaseRequest> requests = new ArrayList<>();
  private final List<LeaseRequest> rejected = new ArrayList<>();
  private final List<Event.LeaseGranted> grants = new ArrayList<>();
  private long nowMs = START_MS;
  private String difference = "";
  private boolean stopped;

  SeedComparison(SeedQuota quota, Preset preset, Map<String, Long> roles, Rational tolerance) {
    this.tolerance = tolerance;
    this.roles = new ArrayList<>(roles.keySet().stream().sorted().toList());
    this.roles.add("stranger");
    this.oracle =
        new SeedOracle(
            new SeedRules(
                quota.limits(),
                quota.depths(),
                quota.levels(),
                roles,
                TTL_MS,
                MAX_WAIT_MS,
                200,
                15,
                6,
                12,
                CLEAN_MS),
            START_MS);
    this.edge = new SeedEdge(oracle);
    engine.handle(
        QUOTA, new Command.DefineQuota(definition(quota, preset, roles), "ef".repeat(16)), nowMs);
  }

  /** Refusals one after the other, each of a lease granted before the first cut. */
  static List<Line> refusals() {
    return List.of(
        new Line(Kind.REQUEST, 0, 1, 1, 1, 1),
        new Line(Kind.REQUEST, 0, 2, 1, 1, 1),
        new Line(Kind.REFUSED, 5, 1, 1, 1, 1),
        new Line(Kind.REFUSED, 5, 2, 1, 1, 1));
  }

  /** The first difference, or an empty text. */
  String run(List<Line> script) {
    for (Line line : script) {
      if (!stopped) {
        advance(line.delayMs());
      }
      if (!stopped) {
        act(line);
      }
    }
    if (!stopped) {
      advance(400_000);
    }
    return difference;
  }

  private void act(Line line) {
    switch (line.kind()) {
      case REQUEST:
        request(SeedScripts.request(line, requests.size(), QUOTA, roles, null, nowMs));
        break;
      case AGAIN:
        if (!requests.isEmpty()) {
          handle(new Command.RequestLease(requests.get(line.a() % requests.size()), nowMs));
        }
        break;
      case RETRY:
        if (!rejected.isEmpty()) {
          LeaseRequest before = rejected.get(line.a() % rejected.size());
          request(SeedScripts.request(line, requests.size(), QUOTA, roles, before, nowMs));
        }
        break;
      case CANCEL:
        cancel(line);
        break;
      case UNLEASED:
        settle(
            new Settlement(
                null,
                "u" + line.a() % 9,
                "a" + line.b() % 4,
                QUOTA,
                Outcome.UNLEASED,
                new Settlement.Usage((long) (line.c() % 700), null, null, 30L, true),
                false,
                null));
        break;
      case PASS:
        break;
      default:
        settleLease(line);
    }
  }

  private void request(LeaseRequest request) {
    requests.add(request);
    handle(new Command.RequestLease(request, nowMs));
  }

  private void cancel(Line line) {
    String id = requests.isEmpty() ? "early" : requests.get(line.a() % requests.size()).requestId();
    String agent = requests.isEmpty() ? "a0" : requests.get(line.a() % requests.size()).agentId();
    if (line.d() % 7 == 0) {
      id = "r" + (requests.size() + line.b() % 2);
      agent = "a" + line.c() % 4;
    }
    settle(new Settlement(null, id, agent, QUOTA, Outcome.CANCELLED, null, false, null));
  }

  private void settleLease(Line line) {
    if (grants.isEmpty()) {
      return;
    }
    int back = line.a() % Math.min(grants.size(), line.a() % 5 == 0 ? 60 : 5);
    Event.LeaseGranted grant = grants.get(grants.size() - 1 - back);
    Outcome outcome = SeedScripts.ending(line);
    Settlement.Usage usage =
        outcome == Outcome.SUCCEEDED && line.a() % 8 != 0 ? SeedScripts.usage(line) : null;
    Signal signal = null;
    boolean requeue = false;
    switch (line.kind()) {
      case SIGNAL:
        signal = SeedScripts.signal(line, nowMs - grant.grantedAtMs());
        break;
      case REFUSED:
        outcome = Outcome.RATE_LIMITED;
        usage = null;
        requeue = line.b() % 2 == 0;
        signal = SeedScripts.refusal(line);
        break;
      case OVERLOADED:
        outcome = Outcome.OVERLOADED;
        usage = null;
        break;
      case RENEW:
        outcome = Outcome.IN_PROGRESS;
        usage = line.b() % 2 == 0 ? null : SeedScripts.usage(line);
        break;
      default:
        break;
    }
    settle(
        new Settlement(
            grant.leaseId(),
            grant.requestId(),
            grant.agentId(),
            QUOTA,
            outcome,
            usage,
            requeue,
            signal));
  }

  private void settle(Settlement settlement) {
    handle(new Command.SettleLease(settlement, nowMs));
  }

  private void advance(long delayMs) {
    long untilMs = nowMs + delayMs;
    while (!stopped && engine.nextDeadlineMs() <= untilMs) {
      nowMs = Math.max(nowMs, engine.nextDeadlineMs());
      handle(new Command.Tick());
    }
    nowMs = untilMs;
  }

  private void handle(Command command) {
    Handled handled = engine.handle(QUOTA, command, nowMs);
    for (Event event : handled.events()) {
      if (event instanceof Event.LeaseGranted e) {
        grants.add(e);
      } else if (event instanceof Event.LeaseRejected e) {
        requests.stream()
            .filter(r -> r.requestId().equals(e.requestId()))
            .findFirst()
            .ifPresent(rejected::add);
      }
    }
    List<String> expected = edge.expected(command, nowMs, handled.events());
    List<String> found = edge.found(handled.events());
    stopped |= oracle.leftOpen() || oracle.ambiguous(tolerance);
    QuotaSnapshot state = engine.show(QUOTA, nowMs);
    Map<String, Long> levels = new HashMap<>();
    for (Dimension d : Dimension.values()) {
      if (state.levels().has(d)) {
        levels.put(d.wireName(), state.levels().get(d));
      }
    }
    compare(command, "answers", expected, found);
    compare(command, "levels", oracle.levels(), levels);
    compare(command, "waiting", oracle.waiting(), state.waiting());
    compare(command, "open leases", oracle.open(), state.openLeases());
    long due = oracle.nextDueMs();
    compare(command, "due by " + due, true, engine.nextDeadlineMs() <= Math.max(due, nowMs));
  }

  private void compare(Command command, String what, Object expected, Object found) {
    if (!stopped && !expected.equals(found)) {
      stopped = true;
      difference =
          "at "
              + nowMs
              + " "
              + command
              + ": "
              + what
              + " expected "
              + expected
              + ", found "
              + found;
    }
  }

  private static QuotaDefinition definition(
      SeedQuota quota, Preset preset, Map<String, Long> roles) {
    Map<String, Double> weights = new HashMap<>();
    roles.forEach((role, weight) -> weights.put(role, weight.doubleValue()));
    return new QuotaDefinition(
        QUOTA,
        "generic",
        preset,
        List.of(),
        List.of(),
        QuotaDefinition.Window.TOKEN_BUCKET,
        amounts(quota.limits()),
        amounts(quota.depths()),
        quota.levels().isEmpty() ? null : amounts(quota.levels()),
        null,
        TTL_MS,
        MAX_WAIT_MS,
        null,
        200L,
        null,
        null,
        null,
        15,
        6,
        null,
        Map.of(),
        Map.of(),
        weights,
        null,
        QuotaDefinition.State.ACTIVE,
        0);
  }

  private static Amounts amounts(Map<String, Long> numbers) {
    Amounts amounts = Amounts.NONE;
    for (Map.Entry<String, Long> entry : numbers.entrySet()) {
      amounts = amounts.with(Dimension.byWireName(entry.getKey()), entry.getValue());
    }
    return amounts;
  }
}
