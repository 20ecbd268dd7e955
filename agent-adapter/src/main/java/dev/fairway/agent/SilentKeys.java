package dev.fairway.agent;

import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.agent.fallback.FullJitter;
import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.agent.fallback.SilenceWatch;
import dev.fairway.schemas.Ids;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that the coordinator of a key does not answer any more, and lets calls go on without it
 * as the {@link FailMode} says. Each key has a coordinator of its own. Guarded by the {@link
 * CallBook}, under whose monitor everything here runs.
 *
 * <p>A call that goes on is taken out of the coordinator's line (the cancellation is read when it
 * is back, together with the request or before it) and reported as UNLEASED when it ends. The
 * others keep their requests, which the coordinator answers once it reads them: nothing is sent
 * again for that, so its return brings no wave of requests.
 *
 * <p>The shares of all agents that one client speaks for make one bucket for each quota: they are
 * shares of one sum, and calls go in the order in which they were made.
 */
final class SilentKeys {
  private static final Logger log = LoggerFactory.getLogger(SilentKeys.class);

  /** Keys watched; beyond it the one first asked for is forgotten, and starts anew. */
  static final int KEYS_MAX = 1_000;

  /** What a call counts as whose input nobody estimated; the default of a quota's definition. */
  static final long INPUT_UNKNOWN = 2_000;

  /** How often the sum of the shares is taken anew: they end, each at its own time. */
  private static final long SHARES_FOR_MS = 1_000;

  /** What is done with calls, by who holds them. */
  interface Calls {
    /** Runs a change under the monitor, and what it has to tell after that. */
    void locked(Runnable change);

    /** Whether a call still waits. */
    boolean waits(PendingCall call);

    /** The calls of a key that wait, in the order in which they were made. */
    List<PendingCall> waitingFor(String key);

    /** Sends the request of a call that waits once more; the coordinator repeats its decision. */
    void sendAgain(PendingCall call);

    /** Lets a call go on without a lease. */
    void pass(PendingCall call, ShareBucket.Amounts charged);
  }

  private final ClientContext context;
  private final FallbackConfig config;
  private final SafeCapacities shares;
  private final Calls calls;
  private final FullJitter jitter;
  private final Map<String, Key> keys = new BoundedMap<>(KEYS_MAX);

  SilentKeys(ClientContext context, SafeCapacities shares, Calls calls, FullJitter jitter) {
    this.context = context;
    this.config = context.config().fallback();
    this.shares = shares;
    this.calls = calls;
    this.jitter = jitter;
  }

  private static final class Key {
    final SilenceWatch watch;
    final Map<String, Line> lines = new HashMap<>();
    Timers.Timer check;
    long silentSinceMs;
    long sentAtMs;
    long heardAtMs;
    long passed;

    Key(SilenceWatch watch) {
      this.watch = watch;
    }
  }

  /** The calls of one quota that may go on by its share. */
  private final class Line {
    final String quota;
    final Deque<PendingCall> waiting = new ArrayDeque<>();
    final ShareBucket bucket;
    long sharesAtMs;
    boolean hasShare;
    Timers.Timer next;

    Line(String quota) {
      this.quota = quota;
      this.bucket = new ShareBucket(none(), nowMs());
      this.sharesAtMs = nowMs() - SHARES_FOR_MS;
    }
  }

  /** How many keys are silent now. */
  int silent() {
    return (int) keys.values().stream().filter(key -> key.watch.isSilent()).count();
  }

  /** A request of this call went out. */
  void asked(PendingCall call) {
    Key key = keys.computeIfAbsent(keyOf(call), name -> newKey());
    key.watch.asked(nowMs());
    key.sentAtMs = nowMs();
    watch(keyOf(call), key);
    if (key.watch.isSilent()) {
      enter(key, call);
    }
  }

  /**
   * Whether a request that got no answer is to be sent again: while its key is silent, one request
   * for all is enough to learn that it is not any more.
   */
  boolean maySendAgain(PendingCall call) {
    Key key = keys.get(keyOf(call));
    if (key == null || !key.watch.isSilent()) {
      return true;
    }
    return nowMs() - key.sentAtMs >= call.resendDelayMs;
  }

  /** No call waits for any key: there is nothing to be noticed. */
  void nobodyWaits() {
    for (Key key : keys.values()) {
      key.watch.nobodyWaits();
      cancel(key.check);
      key.check = null;
    }
  }

  /** A decision about a quota came in; true if it ends a silence. */
  boolean heard(String quota) {
    String name = Ids.keyOf(quota);
    Key key = keys.get(name);
    if (key == null) {
      return false;
    }
    key.heardAtMs = nowMs();
    if (!key.watch.heard()) {
      return false;
    }
    key.lines.values().forEach(line -> cancel(line.next));
    key.lines.clear();
    log.warn(
        "The coordinator of key {} answers again after {} ms; {} calls were made without it, and"
            + " are reported as UNLEASED.",
        name,
        nowMs() - key.silentSinceMs,
        key.passed);
    return true;
  }

  /** A call that went on turned out to use something else, or was refused by the provider. */
  void used(
      PendingCall call,
      ShareBucket.Amounts charged,
      ShareBucket.Amounts used,
      boolean refused,
      Duration retryAfter) {
    Key key = keys.get(keyOf(call));
    Line line = key == null ? null : key.lines.get(call.call.quota());
    if (line == null) {
      return;
    }
    line.bucket.adjust(charged, used, nowMs());
    if (refused) {
      line.bucket.hold(nowMs() + jitter.delay(call.refusals, retryAfter).toMillis());
    }
    if (config.mode() == FailMode.SAFE_SHARE) {
      drain(key, line);
    }
  }

  // ---- a silence begins

  private Key newKey() {
    return new Key(new SilenceWatch(config.silentAfter().toMillis()));
  }

  private void watch(String name, Key key) {
    long checkInMs = key.watch.checkInMs(nowMs());
    if (checkInMs < 0) {
      checkInMs = Math.max(1, key.heardAtMs + config.silentAfter().toMillis() - nowMs());
    }
    if (key.check == null && !key.watch.isSilent()) {
      key.check = context.timers().schedule(checkInMs, () -> calls.locked(() -> look(name, key)));
    }
  }

  private void look(String name, Key key) {
    key.check = null;
    List<PendingCall> waiting = calls.waitingFor(name);
    if (waiting.isEmpty()) {
      key.watch.nobodyWaits();
      return;
    }
    if (!key.watch.begins(nowMs())) {
      if (key.watch.checkInMs(nowMs()) < 0
          && nowMs() - key.heardAtMs >= config.silentAfter().toMillis()) {
        // All that wait have been told their place, and nobody asks: somebody has to.
        calls.sendAgain(waiting.get(0));
      }
      watch(name, key);
      return;
    }
    key.silentSinceMs = nowMs();
    key.passed = 0;
    context.counters().silences.increment();
    log.warn(
        "Expected the coordinator of key {} to answer within {} ms, but it does not; calls go on by"
            + " fail mode {} until it answers. Look at the coordinator, the dispatcher and the"
            + " brokers.",
        name,
        config.silentAfter().toMillis(),
        config.mode());
    waiting.forEach(call -> enter(key, call));
  }

  // ---- calls go on

  private void enter(Key key, PendingCall call) {
    if (config.mode() == FailMode.BACKOFF) {
      long delayMs = jitter.delay(call.refusals, call.retryAfter).toMillis();
      context.timers().schedule(delayMs, () -> calls.locked(() -> passAfterWait(key, call)));
    } else if (config.mode() == FailMode.SAFE_SHARE) {
      Line line = key.lines.computeIfAbsent(call.call.quota(), Line::new);
      if (line.waiting.size() >= 2 * context.config().pendingCallsMax()) {
        line.waiting.removeIf(gone -> !calls.waits(gone));
      }
      line.waiting.add(call);
      if (call.refusals > 0) {
        line.bucket.hold(nowMs() + jitter.delay(call.refusals, call.retryAfter).toMillis());
      }
      if (line.next == null) {
        drain(key, line);
      }
    }
  }

  private void passAfterWait(Key key, PendingCall call) {
    if (key.watch.isSilent() && calls.waits(call)) {
      pass(key, call, need(call));
    }
  }

  private void drain(Key key, Line line) {
    cancel(line.next);
    line.next = null;
    shares(line);
    if (!line.hasShare) {
      line.waiting.clear(); // No decision comes in a silence, and so no share.
    }
    while (!line.waiting.isEmpty()) {
      PendingCall head = line.waiting.peek();
      ShareBucket.Amounts need = need(head);
      long waitMs = calls.waits(head) ? line.bucket.waitMs(need, nowMs()) : ShareBucket.NEVER;
      if (waitMs == 0) {
        line.waiting.poll();
        line.bucket.take(need, nowMs());
        pass(key, head, need);
      } else if (waitMs == ShareBucket.NEVER) {
        line.waiting.poll(); // Gone, or one for which there is no share: others need not wait.
      } else {
        line.next =
            context
                .timers()
                .schedule(
                    Math.min(waitMs, SHARES_FOR_MS),
                    () -> calls.locked(() -> drainIfSilent(key, line)));
        return;
      }
    }
  }

  private void drainIfSilent(Key key, Line line) {
    if (key.watch.isSilent() && key.lines.get(line.quota) == line) {
      drain(key, line);
    }
  }

  private void pass(Key key, PendingCall call, ShareBucket.Amounts need) {
    key.passed++;
    calls.pass(call, need);
  }

  private void shares(Line line) {
    if (nowMs() - line.sharesAtMs < SHARES_FOR_MS) {
      return;
    }
    line.sharesAtMs = nowMs();
    ShareBucket.Amounts total = shares.total(line.quota, nowMs());
    line.hasShare = total != null;
    if (total != null) {
      line.bucket.rates(total, nowMs());
    }
  }

  /** What a call takes from a share: a cache that is cold by now is read as fresh input. */
  private static ShareBucket.Amounts need(PendingCall call) {
    LeaseCall.Estimate estimate = call.call.estimate();
    long input = estimate.inputTokens() == null ? INPUT_UNKNOWN : estimate.inputTokens();
    Instant cacheEnd = estimate.cacheExpiresAt();
    input += cacheEnd == null || !cacheEnd.isAfter(Instant.now()) ? estimate.cachedTokens() : 0;
    long output = estimate.maxOutputTokens() == null ? 0 : estimate.maxOutputTokens();
    return ShareBucket.Amounts.ofCall(input, output);
  }

  private static ShareBucket.Amounts none() {
    OptionalLong zero = OptionalLong.of(0);
    return new ShareBucket.Amounts(zero, zero, zero, zero);
  }

  private static String keyOf(PendingCall call) {
    return Ids.keyOf(call.call.quota());
  }

  private long nowMs() {
    return context.timers().nowMs();
  }

  private static void cancel(Timers.Timer timer) {
    if (timer != null) {
      timer.cancel();
    }
  }
}
