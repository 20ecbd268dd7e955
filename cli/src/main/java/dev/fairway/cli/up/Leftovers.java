package dev.fairway.cli.up;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process that was killed left in its broker, and its successor would wait for: members of
 * groups, until their sessions end, and an open transaction, until it times out. Only for a broker
 * that nobody shares: members and transactions of others that live would end, too.
 */
final class Leftovers {
  private static final Logger log = LoggerFactory.getLogger(Leftovers.class);
  private static final int ANSWER_S = 10;

  private final Admin admin;

  Leftovers(Admin admin) {
    this.admin = admin;
  }

  /** Removes every member of a group. What fails is waited for instead. */
  void removeMembers(String groupId) throws InterruptedException {
    try {
      admin
          .removeMembersFromConsumerGroup(groupId, new RemoveMembersFromConsumerGroupOptions())
          .all()
          .get(ANSWER_S, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      if (!(e.getCause() instanceof GroupIdNotFoundException)) {
        log.debug("Members of {} are left to their session timeout", groupId, e);
      }
    }
  }

  /** Aborts open transactions. What fails is waited for instead. */
  void abortTransactions(String transactionalIdPrefix) throws InterruptedException {
    try {
      List<String> open =
          admin
              .listTransactions(
                  new ListTransactionsOptions().filterStates(List.of(TransactionState.ONGOING)))
              .all()
              .get(ANSWER_S, TimeUnit.SECONDS)
              .stream()
              .map(TransactionListing::transactionalId)
              .filter(id -> id.startsWith(transactionalIdPrefix))
              .toList();
      if (!open.isEmpty()) {
        admin.fenceProducers(open).all().get(ANSWER_S, TimeUnit.SECONDS);
      }
    } catch (ExecutionException | TimeoutException e) {
      log.debug("Transactions of {} are left to their timeout", transactionalIdPrefix, e);
    }
  }
}
