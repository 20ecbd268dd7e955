package dev.fairway.agent.checkpoint;

import java.util.List;
import java.util.Optional;

/** Keeps checkpoints. Implementations are thread-safe. */
public interface CheckpointStore {

  /**
   * Stores a checkpoint in place of the one with its id, if there is one. It is durable when this
   * returns; whatever happens meanwhile, the old one or the new one is there.
   *
   * @throws CheckpointException if it cannot be stored: then the old one is still there
   */
  void save(Checkpoint checkpoint);

  /**
   * The checkpoint with an id, or empty if there is none.
   *
   * @throws CheckpointException if there is one and it cannot be read
   */
  Optional<Checkpoint> load(String id);

  /** Deletes the checkpoint with an id, if there is one: its call was made. */
  void delete(String id);

  /** Ids of the checkpoints that are there, sorted. */
  List<String> ids();

  /** Looks at the ground of a checkpoint, if there is one: see {@link Resumption#of}. */
  default Optional<Resumption> resume(String id, java.nio.file.Path root) {
    return load(id).map(checkpoint -> Resumption.of(checkpoint, root));
  }
}
