package dev.fairway.dispatcher;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Brings the answers of Kafka's clients from their threads to the loop's. Holds at most one entry
 * for each reply, registration and admin request under way, all of which are bounded where they are
 * made.
 */
final class Inbox {

  private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();

  /** Has something done by the loop's thread; from any thread. */
  void post(Runnable answer) {
    answers.add(answer);
  }

  /** Does what was posted; by the loop's thread. */
  void drain() {
    for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
      answer.run();
    }
  }
}
