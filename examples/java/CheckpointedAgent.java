import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.Lease;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.checkpoint.Checkpoint;
import dev.fairway.agent.checkpoint.FileCheckpointStore;
import dev.fairway.agent.checkpoint.NextCall;
import dev.fairway.agent.checkpoint.Resumption;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * An agent that can be killed while it waits for its lease. What it needs to go on is stored before
 * the wait begins; started again, it reads only the files that changed and asks for the same lease,
 * which is charged once.
 *
 * <p>Arguments: BOOTSTRAP REGISTRY PREFIX AGENT QUOTA FOLDER INPUT_TOKENS.
 */
public final class CheckpointedAgent {
  private static final String TASK = "task-7";

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[5]);
    FileCheckpointStore store = FileCheckpointStore.open(folder.resolve("checkpoints"));
    AdmissionClientConfig config =
        AdmissionClientConfig.of(args[0], args[1], args[3])
            .topicPrefix(args[2])
            .callTimeout(Duration.ofMinutes(5))
            .build();
    try (AdmissionClient client = AdmissionClient.start(config)) {
      Optional<Resumption> resumed = store.resume(TASK, folder);
      Checkpoint checkpoint;
      if (resumed.isPresent()) {
        System.out.println("resumed: " + resumed.get().reason());
        resumed.get().changed().forEach(file -> System.out.println("read again: " + file));
        checkpoint =
            resumed.get().sendAsIs()
                ? resumed.get().checkpoint()
                : begin(client, folder, args[4], Long.parseLong(args[6]));
      } else {
        checkpoint = begin(client, folder, args[4], Long.parseLong(args[6]));
      }
      store.save(checkpoint);
      System.out.println("waiting as " + checkpoint.next().call().requestId());

      try (Lease lease = client.acquire(checkpoint.next().call()).join()) {
        lease.markSent();
        // Here checkpoint.next().body() goes to the provider, which tells what it used.
        lease
            .succeeded(UsageReport.of(Long.parseLong(args[6]), 7), ProviderSignal.ok())
            .join();
        System.out.println("settled " + lease.requestId() + " attempt " + lease.attempt());
      }
      store.delete(TASK);
    }
  }

  private static Checkpoint begin(
      AdmissionClient client, Path folder, String quota, long inputTokens) throws Exception {
    String notes = Files.readString(folder.resolve("notes.txt"));
    byte[] body = ("{\"prompt\":\"" + notes.strip() + "\"}").getBytes(StandardCharsets.UTF_8);
    LeaseCall call =
        LeaseCall.of(quota)
            .requestId(client.newRequestId())
            .inputTokens(inputTokens)
            .maxOutputTokens(100)
            .build();
    return Checkpoint.of(TASK, "make the tests pass")
        .step("1 of 1: ask the model")
        .file(folder, Path.of("notes.txt"))
        .decision("send the notes whole", "they are short")
        .next(NextCall.of(call, "POST", "/v1/messages", body))
        .build();
  }
}
