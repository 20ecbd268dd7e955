package dev.fairway.replay.world;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** What a provider lets through in any stretch of time, whoever asks and however. */
class MeterPropertyTest {
  private static final long MINUTE_MS = 60_000;

  /** So long after the one before, a call of that size. */
  record Ask(long afterMs, long amount) {}

  private record Charged(long atMs, long amount) {}

  @Provide
  Arbitrary<List<Ask>> asks() {
    return Combinators.combine(
            Arbitraries.longs().between(0, 20_000), Arbitraries.longs().between(1, 400))
        .as(Ask::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(60);
  }

  @Property
  void shouldLetThroughAtMostDepthAndRefillFromABucket(
      @ForAll("asks") List<Ask> asks,
      @ForAll @IntRange(min = 1, max = 1000) int limit,
      @ForAll @IntRange(min = 5, max = 120) int depthS) {
    BucketMeter meter = new BucketMeter(limit, depthS);

    List<Charged> charged = admitted(meter, asks);

    for (int i = 0; i < charged.size(); i++) {
      long sum = 0;
      for (int j = i; j < charged.size(); j++) {
        sum += charged.get(j).amount();
        long ms = charged.get(j).atMs() - charged.get(i).atMs();
        // A call larger than the depth leaves debt, once.
        long overdraft = Math.max(0, charged.get(j).amount() - meter.depth());
        assertThat(sum * MINUTE_MS)
            .isLessThanOrEqualTo((meter.depth() + overdraft) * MINUTE_MS + ms * limit);
      }
    }
  }

  @Property
  void shouldConserveWhatABucketHolds(
      @ForAll("asks") List<Ask> asks, @ForAll @IntRange(min = 1, max = 1000) int limit) {
    BucketMeter meter = new BucketMeter(limit, 60);
    // Overdrawn from the start, so that nothing is clipped at the depth.
    meter.charge(0, 10_000_000);
    long charged = 10_000_000;
    long nowMs = 0;

    for (Ask ask : asks) {
      nowMs += ask.afterMs();
      meter.charge(nowMs, ask.amount());
      charged += ask.amount();
    }

    long units = (meter.depth() - charged) * MINUTE_MS + nowMs * limit;
    assertThat(meter.room(nowMs)).isEqualTo(Math.floorDiv(units, MINUTE_MS));
  }

  @Property
  void shouldLetThroughAtMostTheLimitInAFixedWindow(
      @ForAll("asks") List<Ask> asks,
      @ForAll @IntRange(min = 400, max = 1000) int limit,
      @ForAll @IntRange(min = 1, max = 60_000) int firstEndMs) {
    List<Charged> charged = admitted(new FixedWindowMeter(limit, firstEndMs), asks);

    for (Charged one : charged) {
      long window = Math.floorDiv(one.atMs() - firstEndMs, MINUTE_MS);
      long sum =
          charged.stream()
              .filter(c -> Math.floorDiv(c.atMs() - firstEndMs, MINUTE_MS) == window)
              .mapToLong(Charged::amount)
              .sum();
      assertThat(sum).isLessThanOrEqualTo(limit);
    }
  }

  @Property
  void shouldLetThroughAtMostTheLimitInAnyMinute(
      @ForAll("asks") List<Ask> asks, @ForAll @IntRange(min = 400, max = 1000) int limit) {
    List<Charged> charged = admitted(new RollingWindowMeter(limit), asks);

    for (Charged from : charged) {
      long sum =
          charged.stream()
              .filter(c -> c.atMs() >= from.atMs() && c.atMs() < from.atMs() + MINUTE_MS)
              .mapToLong(Charged::amount)
              .sum();
      assertThat(sum).isLessThanOrEqualTo(limit);
    }
  }

  @Property
  void shouldSayToTheMillisecondWhenThereIsRoom(
      @ForAll("asks") List<Ask> asks,
      @ForAll @IntRange(min = 400, max = 1000) int limit,
      @ForAll @IntRange(min = 0, max = 2) int kind,
      @ForAll @IntRange(min = 1, max = 400) int amount) {
    Meter meter = meter(kind, limit);
    admitted(meter, asks);
    long nowMs = asks.stream().mapToLong(Ask::afterMs).sum();

    long whenMs = meter.whenRoom(nowMs, amount);

    if (whenMs > nowMs) {
      assertThat(meter.room(whenMs - 1)).isLessThan(amount);
    }
    assertThat(meter.room(whenMs)).isGreaterThanOrEqualTo(amount);
  }

  private static Meter meter(int kind, long limit) {
    switch (kind) {
      case 0:
        return new BucketMeter(limit, 60);
      case 1:
        return new FixedWindowMeter(limit, 17_000);
      default:
        return new RollingWindowMeter(limit);
    }
  }

  private static List<Charged> admitted(Meter meter, List<Ask> asks) {
    List<Charged> charged = new ArrayList<>();
    long nowMs = 0;
    for (Ask ask : asks) {
      nowMs += ask.afterMs();
      if (meter.room(nowMs) >= Math.min(ask.amount(), meter.depth())) {
        meter.charge(nowMs, ask.amount());
        charged.add(new Charged(nowMs, ask.amount()));
      }
    }
    return charged;
  }
}
