package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Kept places of one agent: it ends at one place, in whatever order its requests come back. */
class KeptPlacesOrderTest {
  private static final String AGENT = "a";

  @Property(tries = 300)
  void shouldEndWhereItWouldHaveEndedInOrder(
      @ForAll @IntRange(min = 2, max = 6) int requests,
      @ForAll @IntRange(min = 0, max = 3) int stayInLine,
      @ForAll boolean debt,
      @ForAll long seed) {
    // given: sizes, an order of rejects, and one of returns
    Random random = new Random(seed);
    List<Long> sizes = random.longs(requests, 1, 20_000).boxed().toList();
    List<Integer> inOrder = IntStream.range(0, requests).boxed().toList();
    List<Integer> rejects = shuffled(inOrder, random);
    List<Integer> returns = shuffled(inOrder, random);

    // when
    long ordered = end(sizes, stayInLine, debt, inOrder, inOrder);
    long anyhow = end(sizes, stayInLine, debt, rejects, returns);

    // then: behind the virtual time, or what it owes, and all that it has in line
    long length = sizes.stream().mapToLong(Long::longValue).sum() + stayInLine * 500L;
    assertThat(anyhow).isEqualTo(ordered);
    assertThat(ordered).isEqualTo((length + (debt ? 300_000 : 1)) * 1_000);
  }

  private static List<Integer> shuffled(List<Integer> list, Random random) {
    List<Integer> shuffled = new ArrayList<>(list);
    Collections.shuffle(shuffled, random);
    return shuffled;
  }

  /** Where the agent's next request starts, after all came back. */
  private static long end(
      List<Long> sizes, int stay, boolean debt, List<Integer> rejects, List<Integer> returns) {
    EngineContext context = quota().start();
    context.sleep(1);
    String spender = debt ? AGENT : "other";
    LeaseGranted first = only(ask(context, "first", spender, 1, null, null), LeaseGranted.class);
    context.settle(first.leaseId(), spender, Outcome.SUCCEEDED, 300_000L, 0L);
    for (int i = 0; i < sizes.size(); i++) {
      long deadlineMs = context.nowMs + 1_000 + rejects.indexOf(i);
      ask(context, "r" + i, AGENT, sizes.get(i), null, deadlineMs);
      if (i < stay) {
        ask(context, "s" + i, AGENT, 500, null, null);
      }
    }
    for (int i = sizes.size(); i < stay; i++) {
      ask(context, "s" + i, AGENT, 500, null, null);
    }
    long gone = context.sleep(2_000).stream().filter(LeaseRejected.class::isInstance).count();
    assertThat(gone).isEqualTo(sizes.size());
    for (int i : returns) {
      ask(context, "b" + i, AGENT, sizes.get(i), "r" + i, null);
    }
    Waiter next = only(ask(context, "next", AGENT, 1, null, null), LeaseEnqueued.class).waiter();
    return next.startTag();
  }

  private static List<Event> ask(
      EngineContext context,
      String id,
      String agent,
      long tokens,
      String retryOf,
      Long deadlineMs) {
    return context.ask(
        new LeaseRequest(
            id,
            agent,
            EngineContext.QUOTA,
            null,
            "worker",
            "batch",
            retryOf,
            0,
            null,
            new Estimate(tokens, 0, null, 0L, ""),
            null,
            deadlineMs,
            null,
            null));
  }
}
