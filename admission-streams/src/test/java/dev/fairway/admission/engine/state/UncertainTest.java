package dev.fairway.admission.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Claims;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.lease.Told;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class UncertainTest {

  @Test
  void shouldKeepTheSumOfWhatAPlainLoopAddsUp() {
    for (int seed = 0; seed < 200; seed++) {
      // given
      Random random = new Random(seed);
      Uncertain uncertain = new Uncertain(Dimension.INPUT_TOKENS);
      List<Lease> leases = new ArrayList<>();
      Long absorbed = null;

      for (int step = 0; step < 60; step++) {
        // when
        int what = random.nextInt(10);
        if (what < 6) {
          Lease lease = lease("l" + step, random);
          leases.add(lease);
          uncertain.add(lease, lease.charged(), lease.signalled(), absorbed);
        } else if (what < 8 && !leases.isEmpty()) {
          uncertain.remove(leases.remove(random.nextInt(leases.size())).leaseId());
        } else {
          long to = random.nextInt(1_000);
          absorbed = absorbed == null ? to : Math.max(absorbed, to);
          uncertain.absorb(absorbed);
        }

        // then
        long sum = 0;
        for (Lease lease : leases) {
          sum += uncertain(lease, absorbed) ? square(lease) : 0;
        }
        assertThat(uncertain.squares()).as("seed %d, step %d", seed, step).isEqualTo(sum);
      }
    }
  }

  private static boolean uncertain(Lease x, Long before) {
    boolean absorbed =
        before != null
            && (x.sendKnown() ? x.sentAtMs() <= before : x.sentAtMs() + x.sendGuardMs() < before);
    return x.status() == Lease.Status.OPEN && !x.inputKnown() && !x.signalled() && !absorbed;
  }

  private static long square(Lease x) {
    long error = x.charged().get(Dimension.INPUT_TOKENS) * x.errorMilli() / 1000;
    return error * error;
  }

  private static Lease lease(String id, Random random) {
    LeaseRequest request =
        new LeaseRequest(
            id,
            "a",
            "k",
            null,
            "worker",
            "batch",
            null,
            0,
            null,
            new LeaseRequest.Estimate(1L, 0, null, null, ""),
            null,
            null,
            null,
            null);
    return new Lease(
        request,
        "",
        0,
        0,
        id,
        1,
        random.nextInt(5) == 0 ? Lease.Status.EXPIRED : Lease.Status.OPEN,
        0,
        0,
        null,
        Amounts.of(Dimension.INPUT_TOKENS, random.nextInt(90_000)),
        random.nextInt(6) == 0 ? new Told(true, 1L, null, null, null) : Told.NOTHING,
        false,
        0,
        1_000,
        0,
        random.nextInt(1_000),
        random.nextBoolean(),
        random.nextInt(200),
        new Forecast(0, 0),
        random.nextInt(1_000),
        random.nextInt(6) == 0,
        Standing.of(new Claims("default", "worker", "batch"), null, null),
        Taken.NOTHING);
  }
}
