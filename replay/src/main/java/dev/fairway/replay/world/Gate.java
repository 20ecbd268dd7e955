package dev.fairway.replay.world;

import dev.fairway.schemas.TaskState;
import java.util.List;

/**
 * What stands between an agent's wish to make a call and the call. It hears what its agent knows,
 * when the agent knows it, and lets the call be sent by {@link Sender#send}.
 */
public interface Gate {

  /** The agents' side. */
  interface Sender {
    /** The agent sends the call now; nothing happens if it does not want it any more. */
    void send(Call call);

    /** No answer will ever let the call through; its agent plans again. */
    void giveUp(Call call);
  }

  /** Makes a gate of its own for one run. */
  interface Maker {
    /** A gate for that world, which asks it for nothing before the world runs. */
    Gate make(World world);
  }

  /** An agent wants to make a call. */
  void ask(Call call);

  /** An agent no longer wants a call that it has not sent. */
  void withdrawn(Call call);

  /** The agent read the first token. */
  void started(Call call, Headers headers);

  /** The agent read the last token. */
  void ended(Call call);

  /** The agent read a 429; {@code again}: and wants the call still, with a send to come. */
  void refused(Call call, Refusal refusal, boolean again);

  /** The call reached the provider and was admitted or refused: nobody but an oracle knows. */
  default void arrived(Call call) {}

  /** The provider ended the call, or its agent died in the middle: nobody but an oracle knows. */
  default void over(Call call) {}

  /** The orchestrator says where a task stands. */
  default void task(
      TaskState state, String taskId, Role role, String agentId, List<String> blockedOn) {}
}
