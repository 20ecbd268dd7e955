package dev.fairway.cli.demo;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionTimeoutException;
import dev.fairway.agent.Lease;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.LeaseRejectedException;
import dev.fairway.agent.UsageReport;
import dev.fairway.cli.demo.fleet.Admission;
import dev.fairway.cli.demo.fleet.ModelCall;
import dev.fairway.cli.demo.fleet.ProviderAnswer;
import dev.fairway.schemas.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** An agent's admission: leases of one quota from the coordinator, through the Java client. */
final class LeasedAdmission implements Admission {
  /** A rejected request that names no time comes back after this long. */
  private static final Duration COME_BACK = Duration.ofSeconds(1);

  private final AdmissionClient client;
  private final String quota;

  LeasedAdmission(AdmissionClient client, String quota) {
    this.client = client;
    this.quota = quota;
  }

  @Override
  public Optional<Permit> acquire(ModelCall call, long untilNanos) throws InterruptedException {
    String retryOf = call.previous();
    while (true) {
      long leftNanos = untilNanos - System.nanoTime();
      if (leftNanos <= 0) {
        return Optional.empty();
      }
      CompletableFuture<Lease> asked =
          client.acquire(
              LeaseCall.of(quota)
                  .taskId(call.turn().taskId())
                  .role(call.turn().role())
                  .inputTokens(call.turn().requestedInputTokens())
                  .maxOutputTokens(call.turn().maxTokens())
                  .estimateMethod("demo")
                  .retryOf(retryOf)
                  .timeout(Duration.ofNanos(leftNanos))
                  .build());
      try {
        Lease lease = asked.get();
        lease.markSent();
        return Optional.of(new LeasePermit(lease));
      } catch (ExecutionException e) {
        if (e.getCause() instanceof AdmissionTimeoutException) {
          return Optional.empty();
        }
        if (!(e.getCause() instanceof LeaseRejectedException rejected)) {
          throw new IllegalStateException("The coordinator gave no lease", e.getCause());
        }
        retryOf = rejected.requestId();
        Duration wait = rejected.retryAfter().orElse(COME_BACK);
        TimeUnit.NANOSECONDS.sleep(
            Math.max(0, Math.min(wait.toNanos(), untilNanos - System.nanoTime())));
      } catch (InterruptedException e) {
        asked.cancel(true);
        throw e;
      }
    }
  }

  @Override
  public void close() {
    client.close();
  }

  private record LeasePermit(Lease lease) implements Permit {

    @Override
    public String requestId() {
      return lease.requestId();
    }

    @Override
    public void settle(ProviderAnswer answer) {
      lease.markAnswered();
      UsageReport usage =
          answer.ok() ? UsageReport.of(answer.inputTokens(), answer.outputTokens()) : null;
      // Closing the client waits until the broker has it.
      var unused = lease.settle(outcome(answer), usage, AnthropicSignals.of(answer, Instant.now()));
    }

    private static Outcome outcome(ProviderAnswer answer) {
      if (answer.ok()) {
        return Outcome.SUCCEEDED;
      }
      if (answer.refused()) {
        return Outcome.RATE_LIMITED;
      }
      return answer.status() == 529 ? Outcome.OVERLOADED : Outcome.FAILED_AFTER_SEND;
    }
  }
}
