/**
 * What an agent must not lose while it waits: where it stands, what it decided and why, which files
 * that rests on, and the exact call that comes next. It is stored before the wait begins, so that a
 * process that is stopped meanwhile goes on where it was: it reads again only what changed, and
 * asks for the same lease under the same id, which is charged once.
 *
 * <pre>{@code
 * Checkpoint checkpoint = Checkpoint.of("task-7", "make the tests pass")
 *     .step("3 of 5: fix the parser")
 *     .file(root, Path.of("src/Parser.java"))
 *     .decision("keep the old grammar", "two callers depend on it")
 *     .next(NextCall.of(call, "POST", "/v1/messages", body))
 *     .build();
 * store.save(checkpoint);                       // durable from here on
 * Lease lease = client.acquire(checkpoint.next().call()).join();
 * }</pre>
 *
 * After a restart: {@code Resumption.of(store.load("task-7").orElseThrow(), root)}.
 */
package dev.fairway.agent.checkpoint;
