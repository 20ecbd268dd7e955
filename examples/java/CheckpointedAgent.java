import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.AdmissionTimeoutException;
import dev.fairway.agent.Lease;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.LeaseRejectedException;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.checkpoint.Checkpoint;
import dev.fairway.agent.checkpoint.FileCheckpointStore;
import dev.fairway.agent.checkpoint.FileState;
import dev.fairway.agent.checkpoint.NextCall;
import dev.fairway.agent.checkpoint.Resumption;
import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;

/**
 * An agent that can be killed at any moment: it goes on where it was. It sends FOLDER/notes.txt to
 * the model. What it needs to go on is stored before the wait begins, before the call is sent, and
 * once its answer is there.
 *
 * <p>Arguments: BOOTSTRAP REGISTRY PREFIX AGENT QUOTA FOLDER INPUT_TOKENS; the same when it is
 * started again. With PROVIDER_URL it sends its call there, else it makes an answer up.
 */
public final class CheckpointedAgent {
  private static final String TASK = "task-7";
  private static final String NOTES = "notes.txt";
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[5]);
    AdmissionClientConfig config =
        AdmissionClientConfig.of(args[0], args[1], args[3])
            .topicPrefix(args[2])
            .callTimeout(PATIENCE)
            // Without the coordinator it waits: each call that it sends has a lease.
            .fallback(new FallbackConfig(FailMode.CLOSED, Duration.ofSeconds(5)))
            .build();
    boolean done;
    try (FileChannel lock =
        FileChannel.open(
            folder.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      if (lock.tryLock() == null) { // held until this process ends, however it ends
        System.err.println("Another process works in " + folder + ". Wait for its end.");
        System.exit(1);
      }
      FileCheckpointStore store = FileCheckpointStore.open(folder.resolve("checkpoints"));
      try (AdmissionClient client = AdmissionClient.start(config)) {
        done = run(client, store, folder, args[4], Long.parseLong(args[6]));
      }
    }
    System.exit(done ? 0 : 1);
  }

  private static boolean run(
      AdmissionClient client, FileCheckpointStore store, Path folder, String quota, long tokens)
      throws Exception {
    Resumption resumed = store.resume(TASK, folder).orElse(null);
    // "wait", "sent REQUEST LEASE" or "answered REQUEST LEASE INPUT OUTPUT".
    String[] step = resumed == null ? new String[] {""} : resumed.checkpoint().step().split(" ");
    if (step[0].equals("answered")) {
      // Only the settlement may be missing; a second one changes nothing.
      UsageReport used = UsageReport.of(Long.parseLong(step[3]), Long.parseLong(step[4]));
      client
          .settle(null, quota, step[1], step[2], Outcome.SUCCEEDED, used, ProviderSignal.ok())
          .join();
      store.delete(TASK);
      System.out.println("settled " + step[1]);
      return true;
    }

    String retryOf = null;
    if (step[0].equals("sent")) {
      // Nobody knows what it used, so nothing is given back, and to send it again is a retry.
      System.out.println("resumed: " + step[1] + " was sent, its answer is lost");
      client
          .settle(null, quota, step[1], step[2], Outcome.FAILED_AFTER_SEND, null, null)
          .join();
      retryOf = step[1];
    }
    LeaseCall call =
        step[0].equals("wait")
            ? resumed.checkpoint().next().call() // the same place in line, whatever file changed
            : ask(client, quota, tokens, retryOf);
    if (resumed != null) {
      System.out.println("resumed: " + resumed.reason());
      resumed.changed().forEach(file -> System.out.println("read again: " + file));
    }
    Checkpoint checkpoint =
        resumed != null && resumed.sendAsIs()
            ? at("wait", resumed.checkpoint(), call)
            : begin(folder, call);
    Lease granted = null;
    long untilNanos = System.nanoTime() + PATIENCE.toNanos();
    while (granted == null) {
      store.save(checkpoint); // before anybody is asked: whoever goes on asks for the same
      System.out.println("waiting as " + call.requestId());
      try {
        granted = client.acquire(call).join();
      } catch (CompletionException e) {
        System.err.println(e.getCause().getMessage());
        Duration pause =
            e.getCause() instanceof LeaseRejectedException rejected ? comeBack(rejected) : null;
        if (pause == null) {
          if (e.getCause() instanceof LeaseRejectedException
              || e.getCause() instanceof AdmissionTimeoutException) {
            store.delete(TASK); // this request is over: who starts again begins a new one
          }
          return false;
        }
        // The id stands for the rejection from now on; another one has the place that it had.
        call = ask(client, call.quota(), tokens, repeated(call, e.getCause()));
        checkpoint = at("wait", checkpoint, call);
        store.save(checkpoint);
        if (System.nanoTime() + pause.toNanos() > untilNanos) {
          return false; // who starts again comes back for it
        }
        Thread.sleep(pause.toMillis());
      }
    }
    try (Lease lease = granted) {
      String on = lease.requestId() + " " + lease.leaseId();
      lease.markSent();
      store.save(at("sent " + on, checkpoint, call));
      UsageReport used = callModel(checkpoint.next().body(), tokens);
      String usage = used.inputTokens() + " " + used.outputTokens();
      store.save(at("answered " + on + " " + usage, checkpoint, call));
      lease.succeeded(used, ProviderSignal.ok()).join();
      System.out.println("settled " + lease.requestId() + " attempt " + lease.attempt());
    }
    store.delete(TASK);
    return true;
  }

  private static LeaseCall ask(
      AdmissionClient client, String quota, long tokens, String retryOf) {
    return LeaseCall.of(quota)
        .requestId(client.newRequestId())
        .retryOf(retryOf)
        .inputTokens(tokens)
        .maxOutputTokens(100)
        .build();
  }

  /** When to come back after a rejection; null: never with this call. */
  private static Duration comeBack(LeaseRejectedException rejected) {
    return switch (rejected.reason()) {
      // Too old, or over without a call, as when the process was gone for long.
      case DEADLINE_PASSED, STALE, ALREADY_SETTLED, LEASE_EXPIRED ->
          rejected.retryAfter().orElse(Duration.ofSeconds(1));
      default -> rejected.retryAfter().orElse(null);
    };
  }

  /** What the next request names: the rejected one, whose place it takes, if that is known. */
  private static String repeated(LeaseCall call, Throwable why) {
    return switch (((LeaseRejectedException) why).reason()) {
      case STALE, ALREADY_SETTLED, LEASE_EXPIRED -> call.retryOf(); // nothing was sent on it
      default -> ((LeaseRejectedException) why).requestId();
    };
  }

  /** Reads the file once: what is hashed is what is sent. */
  private static Checkpoint begin(Path folder, LeaseCall call) throws IOException {
    byte[] notes = Files.readAllBytes(folder.resolve(NOTES));
    String text = new String(notes, StandardCharsets.UTF_8).strip();
    Map<String, Object> message = Map.of("role", "user", "content", text);
    byte[] body =
        JSON.writeValueAsBytes(Map.of("max_tokens", 100, "messages", new Object[] {message}));
    return Checkpoint.of(TASK, "make the tests pass")
        .step("wait")
        .file(FileState.of(NOTES, notes))
        .decision("send the notes whole", "they are short")
        .next(NextCall.of(call, "POST", "/v1/messages", body))
        .build();
  }

  /** The same checkpoint at another step. */
  private static Checkpoint at(String step, Checkpoint checkpoint, LeaseCall call) {
    NextCall next = checkpoint.next();
    Checkpoint.Builder moved =
        Checkpoint.of(TASK, checkpoint.goal())
            .step(step)
            .next(NextCall.of(call, next.method(), next.path(), next.body()));
    checkpoint.files().forEach(moved::file);
    checkpoint.decisions().forEach(decision -> moved.decision(decision.what(), decision.why()));
    return moved.build();
  }

  private static UsageReport callModel(byte[] body, long tokens) throws Exception {
    String url = System.getenv("PROVIDER_URL"); // answers as Anthropic's /v1/messages
    if (url == null) {
      return UsageReport.of(tokens, 7);
    }
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofMinutes(10))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    HttpResponse<byte[]> answer =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray());
    JsonNode usage = JSON.readTree(answer.body()).path("usage");
    if (answer.statusCode() != 200 || !usage.isObject()) {
      throw new IOException("The provider answered " + answer.statusCode());
    }
    return UsageReport.of(usage.path("input_tokens").asLong(), usage.path("output_tokens").asLong());
  }
}
