package dev.fairway.it.crash;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.AdmissionTimeoutException;
import dev.fairway.agent.Lease;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.LeaseRejectedException;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.cli.up.Addresses;
import dev.fairway.it.crash.LeaseUse.Acknowledged;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One agent of the fleet, with loops that acquire, call and settle until told to stop. It outlives
 * every kill. Most calls succeed; some meet a provider that has nothing left, some break off after
 * they were sent, some leases are given back unused, some requests are withdrawn.
 */
final class CrashAgent {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration CALL_TIMEOUT = Duration.ofMinutes(3);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
  private static final int ACKNOWLEDGED_S_MAX = 130;
  private static final int REJECT_PAUSE_MS = 200;

  /** A fleet that sits out a spent retry budget, up to a minute, is no load. */
  private static final int REJECT_PAUSE_MAX_MS = 5_000;

  /**
   * Where calls go.
   *
   * @param open a provider with room
   * @param spent one that answers 429 to everything
   */
  record Providers(URI open, URI spent) {}

  /** How requests ended that led to no lease. */
  record Ends(AtomicInteger withdrawn, AtomicInteger rejected, AtomicInteger timedOut) {}

  private final String id;
  private final AdmissionClient client;
  private final List<String> quotas;
  private final Providers providers;
  private final HttpClient http;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final Queue<LeaseUse> uses = new ConcurrentLinkedQueue<>();
  private final AtomicLong leases = new AtomicLong();
  private final Ends ends = new Ends(new AtomicInteger(), new AtomicInteger(), new AtomicInteger());
  private final Queue<Throwable> troubles = new ConcurrentLinkedQueue<>();
  private final List<Thread> loops = new ArrayList<>();

  CrashAgent(String id, Addresses up, List<String> quotas, Providers providers, HttpClient http) {
    this.id = id;
    this.quotas = quotas;
    this.providers = providers;
    this.http = http;
    this.client =
        AdmissionClient.start(
            AdmissionClientConfig.of(up.bootstrap(), up.registry(), id)
                .topicPrefix(up.prefix())
                .callTimeout(CALL_TIMEOUT)
                // Every call under a lease: what goes on without one is SilentCoordinatorIT's.
                .fallback(new FallbackConfig(FailMode.CLOSED, CALL_TIMEOUT))
                .clientProperties(Map.of("interceptor.classes", WireTap.class.getName()))
                .build());
  }

  String id() {
    return id;
  }

  /** What its clients saw. */
  WireTap.Seen wire() {
    return WireTap.of("fairway-agent-" + id);
  }

  /** Starts loops; the same seed makes the same choices. */
  void start(int loopCount, SplittableRandom random) {
    for (int i = 0; i < loopCount; i++) {
      SplittableRandom own = random.split();
      Thread loop = new Thread(() -> loop(own), id + "-" + i);
      loop.setDaemon(true);
      loops.add(loop);
      loop.start();
    }
  }

  /** Leases handed to it so far. */
  long leases() {
    return leases.get();
  }

  /** What went wrong in its loops; nothing should. */
  List<Throwable> troubles() {
    return List.copyOf(troubles);
  }

  List<LeaseUse> uses() {
    return List.copyOf(uses);
  }

  Ends ends() {
    return ends;
  }

  /** Tells the loops to end after what they are doing. */
  void stop() {
    stop.countDown();
  }

  /** Waits until the loops have ended, and the client waits for nothing. */
  boolean awaitIdle(long untilNanos) throws InterruptedException {
    for (Thread loop : loops) {
      loop.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(untilNanos - System.nanoTime())));
      if (loop.isAlive()) {
        return false;
      }
    }
    await()
        .atMost(Duration.ofNanos(Math.max(1, untilNanos - System.nanoTime())))
        .until(() -> client.stats().pendingCalls() == 0 && client.stats().openLeases() == 0);
    return true;
  }

  void close() {
    client.close();
  }

  private void loop(SplittableRandom random) {
    try {
      while (stop.getCount() > 0) {
        turn(random);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      troubles.add(e);
    }
  }

  private void turn(SplittableRandom random) throws InterruptedException {
    Work work = Work.drawn(random);
    CompletableFuture<Lease> asked =
        client.acquire(
            LeaseCall.of(quotas.get(random.nextInt(quotas.size())))
                .inputTokens(work.estimatedInput())
                .maxOutputTokens(work.maxOutput())
                .estimateMethod("drawn")
                .build());
    Lease lease = lease(asked, work);
    while (lease != null) {
      leases.incrementAndGet();
      lease = use(lease, work);
    }
  }

  /** The lease that was asked for; null if there is none. */
  private Lease lease(CompletableFuture<Lease> asked, Work work) throws InterruptedException {
    try {
      if (work.withdrawAfterMs() != null) {
        try {
          return asked.get(work.withdrawAfterMs(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          // If the lease has come in this moment, it is there to be used.
          asked.cancel(true);
        }
      }
      return asked.get();
    } catch (CancellationException e) {
      ends.withdrawn().incrementAndGet();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LeaseRejectedException rejected) {
        ends.rejected().incrementAndGet();
        long waitMs = rejected.retryAfter().map(Duration::toMillis).orElse(0L);
        long pauseMs = Math.min(Math.max(REJECT_PAUSE_MS, waitMs), REJECT_PAUSE_MAX_MS);
        var unused = stop.await(pauseMs, TimeUnit.MILLISECONDS);
      } else if (e.getCause() instanceof AdmissionTimeoutException) {
        // Never up long enough in all that time; the request is cancelled.
        ends.timedOut().incrementAndGet();
      } else {
        throw new IllegalStateException("Expected a lease, a reject or a timeout", e.getCause());
      }
    }
    return null;
  }

  /** Uses a lease as the work says, and gives the lease of the next attempt, if there is one. */
  private Lease use(Lease lease, Work work) throws InterruptedException {
    Use use = new Use(lease);
    if (work.kind() == Work.Kind.NOT_SENT || !lease.usable()) {
      use.settled(Outcome.NOT_SENT, lease.notSent());
      return null;
    }
    try {
      lease.markSent();
    } catch (AdmissionException e) {
      // It has expired since.
      use.settled(Outcome.NOT_SENT, lease.notSent());
      return null;
    }
    use.sentAtMs = System.currentTimeMillis();
    HttpResponse<byte[]> answer;
    try {
      answer = http.send(call(lease, work), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      use.settled(Outcome.FAILED_AFTER_SEND, lease.failedAfterSend(null));
      return null;
    }
    lease.markAnswered();
    use.status = answer.statusCode();
    if (answer.statusCode() == 200) {
      succeeded(lease, use, answer);
      return null;
    }
    return refused(lease, use, work);
  }

  private void succeeded(Lease lease, Use use, HttpResponse<byte[]> answer)
      throws InterruptedException {
    JsonNode usage;
    try {
      usage = JSON.readTree(answer.body()).path("usage");
    } catch (IOException e) {
      throw new IllegalStateException("Expected a message from the provider", e);
    }
    use.inputTokens = usage.path("input_tokens").longValue();
    use.outputTokens = usage.path("output_tokens").longValue();
    use.settled(
        Outcome.SUCCEEDED,
        lease.succeeded(UsageReport.of(use.inputTokens, use.outputTokens), signal(answer)));
  }

  private Lease refused(Lease lease, Use use, Work work) throws InterruptedException {
    ProviderSignal signal = ProviderSignal.rateLimited(null);
    if (work.kind() == Work.Kind.REQUEUED && lease.attempt() == 1) {
      CompletableFuture<Lease> next = lease.rateLimitedRequeue(signal);
      use.settledUnseen(Outcome.RATE_LIMITED);
      return lease(next, work);
    }
    use.settled(Outcome.RATE_LIMITED, lease.rateLimited(signal));
    return null;
  }

  private HttpRequest call(Lease lease, Work work) {
    boolean refused =
        work.kind() == Work.Kind.REFUSED
            || (work.kind() == Work.Kind.REQUEUED && lease.attempt() == 1);
    URI provider = refused ? providers.spent() : providers.open();
    return HttpRequest.newBuilder(provider.resolve("/v1/messages"))
        .timeout(work.kind() == Work.Kind.BROKEN_OFF ? work.breakOffAfter() : ANSWER_TIMEOUT)
        .header("content-type", "application/json")
        .header("x-demo-call", lease.leaseId())
        .header("x-demo-turn", lease.requestId() + "/" + lease.attempt())
        .header("x-demo-agent", id)
        .header("x-demo-input-tokens", Long.toString(work.input()))
        .header("x-demo-output-tokens", Long.toString(work.output()))
        .POST(
            HttpRequest.BodyPublishers.ofString(
                "{\"model\":\"m\",\"max_tokens\":"
                    + work.maxOutput()
                    + ",\"messages\":[{\"role\":\"user\",\"content\":\"Go on.\"}]}"))
        .build();
  }

  /** What the headers say, so that resyncs are under way at kills, too. */
  private static ProviderSignal signal(HttpResponse<byte[]> answer) {
    return ProviderSignal.builder()
        .status(answer.statusCode())
        .limit(
            Dimension.REQUESTS,
            number(answer, "anthropic-ratelimit-requests-limit"),
            number(answer, "anthropic-ratelimit-requests-remaining"),
            null)
        .build();
  }

  private static Long number(HttpResponse<byte[]> answer, String header) {
    return answer.headers().firstValueAsLong(header).stream().boxed().findFirst().orElse(null);
  }

  /** What becomes of one lease, while it does. */
  private final class Use {
    private final Lease lease;
    private Long sentAtMs;
    private Integer status;
    private Long inputTokens;
    private Long outputTokens;

    Use(Lease lease) {
      this.lease = lease;
    }

    void settled(Outcome outcome, CompletableFuture<Void> acknowledged)
        throws InterruptedException {
      try {
        acknowledged.get(ACKNOWLEDGED_S_MAX, TimeUnit.SECONDS);
        note(outcome, Acknowledged.YES);
      } catch (ExecutionException | TimeoutException e) {
        note(outcome, Acknowledged.NO);
        troubles.add(e);
      }
    }

    void settledUnseen(Outcome outcome) {
      note(outcome, Acknowledged.UNKNOWN);
    }

    private void note(Outcome outcome, Acknowledged acknowledged) {
      uses.add(
          new LeaseUse(
              id,
              lease.quota(),
              lease.requestId(),
              lease.leaseId(),
              lease.attempt(),
              lease.charged(),
              sentAtMs,
              status,
              inputTokens,
              outputTokens,
              outcome,
              acknowledged));
    }
  }

  /**
   * One call as it is meant to go.
   *
   * @param estimatedInput what the agent thinks that it needs, which is a little off
   * @param withdrawAfterMs when the request is withdrawn, or null
   * @param breakOffAfter when the agent hangs up, where that is its kind
   */
  private record Work(
      Kind kind,
      long input,
      long output,
      long estimatedInput,
      long maxOutput,
      Long withdrawAfterMs,
      Duration breakOffAfter) {

    enum Kind {
      SUCCEEDS,
      NOT_SENT,
      BROKEN_OFF,
      REFUSED,
      REQUEUED
    }

    static Work drawn(SplittableRandom random) {
      int share = random.nextInt(100);
      Kind kind = Kind.SUCCEEDS;
      if (share < 5) {
        kind = Kind.NOT_SENT;
      } else if (share < 10) {
        kind = Kind.BROKEN_OFF;
      } else if (share < 13) {
        kind = Kind.REFUSED;
      } else if (share < 16) {
        kind = Kind.REQUEUED;
      }
      long input = random.nextLong(50, 500);
      long output = random.nextLong(5, 60);
      return new Work(
          kind,
          input,
          output,
          input * random.nextLong(85, 116) / 100,
          output + random.nextLong(0, 40),
          random.nextInt(100) < 8 ? (Long) random.nextLong(1, 400) : null,
          Duration.ofMillis(random.nextLong(5, 60)));
    }
  }
}
