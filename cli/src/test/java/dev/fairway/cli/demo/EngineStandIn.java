package dev.fairway.cli.demo;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.cli.demo.fleet.Admission;
import dev.fairway.cli.demo.fleet.AgentPlan;
import dev.fairway.cli.demo.fleet.ModelCall;
import dev.fairway.cli.demo.fleet.ProviderAnswer;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The engine without Kafka: each command is handled at once, under a lock. */
final class EngineStandIn implements AdmissionSide {
  private static final String QUOTA = "demo";

  private final AdmissionEngine engine = new AdmissionEngine();
  private final Map<String, CompletableFuture<Event.LeaseGranted>> waiting = new HashMap<>();
  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();
  private final Command define;
  private long grants;
  private long settled;
  private long expired;

  EngineStandIn(FleetLimits limits) {
    Amounts perMinute =
        Amounts.NONE
            .with(Dimension.REQUESTS, limits.limits().requests().perMinute())
            .with(Dimension.INPUT_TOKENS, limits.limits().inputTokens().perMinute())
            .with(Dimension.OUTPUT_TOKENS, limits.limits().outputTokens().perMinute());
    Amounts level = Amounts.NONE.with(Dimension.INPUT_TOKENS, limits.knownOpeningTokens());
    define =
        new Command.DefineQuota(
            new QuotaDefinition(
                QUOTA,
                "anthropic",
                QuotaDefinition.Preset.FAIRWAY,
                List.of(),
                List.of(),
                QuotaDefinition.Window.TOKEN_BUCKET,
                perMinute,
                null,
                level,
                new Margin(null, FleetLimits.MARGIN, null, null, null, null),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                Map.of(),
                Map.of(),
                Map.of(),
                null,
                QuotaDefinition.State.ACTIVE,
                0),
            "0123456789abcdef0123456789abcdef");
    var unused = ticks.scheduleWithFixedDelay(this::tick, 2, 2, TimeUnit.MILLISECONDS);
  }

  @Override
  public void open() {
    handle(define);
  }

  private synchronized void tick() {
    long now = System.currentTimeMillis();
    if (engine.nextDeadlineMs() <= now) {
      handle(new Command.Tick());
    }
  }

  private synchronized void handle(Command command) {
    for (Event event : engine.handle(QUOTA, command, System.currentTimeMillis()).events()) {
      if (event instanceof Event.LeaseGranted granted) {
        grants++;
        CompletableFuture<Event.LeaseGranted> future = waiting.remove(granted.requestId());
        if (future != null) {
          future.complete(granted);
        }
      } else if (event instanceof Event.LeaseSettled) {
        settled++;
      } else if (event instanceof Event.LeaseExpired) {
        expired++;
      } else if (event instanceof Event.LeaseRejected rejected) {
        waiting
            .remove(rejected.requestId())
            .completeExceptionally(new IllegalStateException(rejected.toString()));
      }
    }
  }

  @Override
  public Admission admissionOf(AgentPlan agent) {
    return new Admission() {
      @Override
      public Optional<Permit> acquire(ModelCall call, long untilNanos) throws InterruptedException {
        CompletableFuture<Event.LeaseGranted> future = new CompletableFuture<>();
        synchronized (EngineStandIn.this) {
          waiting.put(call.id(), future);
          handle(
              new Command.RequestLease(
                  new LeaseRequest(
                      call.id(),
                      agent.agent(),
                      QUOTA,
                      call.turn().taskId(),
                      call.turn().role(),
                      "batch",
                      call.previous(),
                      0,
                      null,
                      new LeaseRequest.Estimate(
                          call.turn().requestedInputTokens(),
                          0,
                          null,
                          call.turn().maxTokens(),
                          "demo"),
                      null,
                      null,
                      null,
                      null),
                  System.currentTimeMillis()));
        }
        try {
          return Optional.of(
              permit(
                  agent,
                  call,
                  future.get(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS),
                  System.nanoTime()));
        } catch (ExecutionException e) {
          throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
          handle(settlement(null, call.id(), agent.agent(), Outcome.CANCELLED, null, null));
          if (future.isDone()) {
            handle(
                settlement(
                    future.join().leaseId(),
                    call.id(),
                    agent.agent(),
                    Outcome.NOT_SENT,
                    null,
                    null));
          }
          return Optional.empty();
        }
      }

      @Override
      public void close() {}
    };
  }

  private Admission.Permit permit(
      AgentPlan agent, ModelCall call, Event.LeaseGranted granted, long sentNanos) {
    return new Admission.Permit() {
      @Override
      public String requestId() {
        return call.id();
      }

      @Override
      public void settle(ProviderAnswer answer) {
        ProviderSignal read = AnthropicSignals.of(answer, Instant.now());
        Map<Dimension, Signal.Reading> readings = new EnumMap<>(Dimension.class);
        read.limits()
            .forEach(
                (d, r) ->
                    readings.put(
                        Dimension.valueOf(d.name()),
                        new Signal.Reading(r.limit(), r.remaining(), r.reset().toMillis())));
        Signal signal =
            new Signal(
                answer.status(),
                answer.ok() ? Signal.Kind.OK : Signal.Kind.RATE_LIMITED,
                null,
                read.retryAfter() == null ? null : read.retryAfter().toMillis(),
                0L,
                (System.nanoTime() - sentNanos) / 1_000_000,
                readings);
        handle(
            settlement(
                granted.leaseId(),
                call.id(),
                agent.agent(),
                answer.ok() ? Outcome.SUCCEEDED : Outcome.RATE_LIMITED,
                answer.ok()
                    ? new Usage(answer.inputTokens(), 0L, 0L, answer.outputTokens(), true)
                    : null,
                signal));
      }
    };
  }

  private static Command settlement(
      String lease, String request, String agent, Outcome outcome, Usage usage, Signal signal) {
    return new Command.SettleLease(
        new Settlement(lease, request, agent, QUOTA, outcome, usage, false, signal),
        System.currentTimeMillis());
  }

  @Override
  public synchronized LeaseTally finish() {
    return new LeaseTally(grants, settled, expired);
  }

  @Override
  public void close() {
    ticks.shutdownNow();
  }
}
