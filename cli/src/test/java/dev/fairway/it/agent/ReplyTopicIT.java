package dev.fairway.it.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.Lease;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

class ReplyTopicIT extends AgentIntegration {
  @Test
  void shouldGetTheFirstReplyFromATopicThatAppearsWithIt() {
    // given: nobody has created the reply topic
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::grantAll);
        AdmissionClient client = client("fresh").start()) {
      assertThat(TestCluster.topics(prefix + "replies.")).isEmpty();

      // when
      Lease lease = lease(client.acquire(call().build()));

      // then: it was not asked twice
      assertThat(lease.requestId())
          .isEqualTo(coordinator.requestsOf("fresh").get(0).getRequestId());
      assertThat(client.stats().resends()).isZero();
      lease.close();
    }
  }

  /** Case C54. */
  @Test
  void shouldGetTheFirstReplyFromATopicThatWasJustCreated() {
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::grantAll)) {
      for (int i = 0; i < 10; i++) {
        // given
        String agentId = "created-" + i;
        coordinator.createTopic(prefix + "replies." + agentId, 1);
        try (AdmissionClient client = client(agentId).start()) {

          // when
          Lease lease = lease(client.acquire(call().build()));

          // then
          assertThat(client.stats().resends()).isZero();
          lease.close();
        }
      }
    }
  }

  @Test
  void shouldNotReadWhatWasWrittenBeforeItsStart() {
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::grantAll)) {
      // given
      try (AdmissionClient earlier = client("again").start()) {
        lease(earlier.acquire(call().build())).close();
      }

      // when
      try (AdmissionClient later = client("again").start()) {
        lease(later.acquire(call().build())).close();

        // then
        assertThat(later.stats().foreignReplies()).isZero();
      }
    }
  }

  /** Case C53. */
  @Test
  void shouldIgnoreTheRepliesOfOthersOnASharedTopic() {
    // given
    String shared = prefix + "replies-shared";
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::grantAll)) {
      coordinator.createTopic(shared, 2);
      coordinator.register("one", shared, 1);
      coordinator.register("two", shared, 1);
      try (AdmissionClient one = client("one").shared(shared, 1).start();
          AdmissionClient two = client("two").shared(shared, 1).start()) {

        // when
        List<CompletableFuture<Lease>> ones = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          ones.add(one.acquire(call().build()));
        }
        CompletableFuture<Lease> twos = two.acquire(call().build());

        // then
        ones.forEach(future -> lease(future).close());
        lease(twos).close();
        await().atMost(PATIENCE).until(() -> two.stats().foreignReplies() == 20);
        assertThat(one.stats().foreignReplies()).isEqualTo(1);
        assertThat(two.stats().timeouts()).isZero();
        await()
            .atMost(PATIENCE)
            .until(() -> coordinator.outcomesOf("two").equals(List.of(Outcome.NOT_SENT)));
      }
    }
  }

  @Test
  void shouldRefuseToStartOnAPartitionThatTheSharedTopicLacks() {
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::silent)) {
      coordinator.createTopic(prefix + "replies-small", 2);

      assertThatThrownBy(() -> client("one").shared(prefix + "replies-small", 2).start())
          .isInstanceOf(AdmissionException.class)
          .hasMessageContaining("partition 2")
          .hasMessageContaining("it has 2");
    }
  }

  @Test
  void shouldSkipAPoisonedReply() {
    // given
    BiConsumer<FakeCoordinator, LeaseRequest> poisoner =
        (coordinator, request) -> {
          coordinator.poison(request.getAgentId());
          coordinator.grant(request, 1);
        };
    try (FakeCoordinator coordinator = coordinator(poisoner);
        AdmissionClient client = client("tough").start()) {
      // when / then
      lease(client.acquire(call().build())).close();
      assertThat(client.stats().unreadableReplies()).isEqualTo(1);
    }
  }

  @Test
  void shouldOutliveTheDeletionOfItsReplyTopic() {
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::grantAll);
        AdmissionClient client = client("robbed").start()) {
      // given
      for (int i = 0; i < 5; i++) {
        lease(client.acquire(call().build())).close();
      }

      // when
      coordinator.deleteReplyTopic("robbed");
      Lease lease = lease(client.acquire(call().build()));

      // then
      assertThat(lease.usable()).isTrue();
      lease.close();
    }
  }
}
