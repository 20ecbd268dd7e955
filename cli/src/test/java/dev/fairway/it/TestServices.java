package dev.fairway.it;

import dev.fairway.admission.AdmissionConfig;
import dev.fairway.admission.AdmissionService;
import dev.fairway.dispatcher.DispatcherConfig;
import dev.fairway.dispatcher.DispatcherService;
import dev.fairway.schemas.Topics;
import java.nio.file.Path;
import java.util.Map;

/** A coordinator and a dispatcher on the test cluster, which their users close. */
public final class TestServices {

  private TestServices() {}

  /** Starts a coordinator; it may not be ready yet. */
  public static AdmissionService coordinator(String registry, Topics topics, Path stateFolder) {
    return AdmissionService.start(
        AdmissionConfig.of(
            Map.of(
                AdmissionConfig.BOOTSTRAP_SERVERS,
                TestCluster.bootstrapServers(),
                AdmissionConfig.SCHEMA_REGISTRY_URL,
                registry,
                AdmissionConfig.TOPIC_PREFIX,
                topics.prefix(),
                AdmissionConfig.STATE_DIR,
                stateFolder.toString(),
                AdmissionConfig.HTTP_PORT,
                "0")));
  }

  /** Starts a dispatcher; it may not be healthy yet. */
  public static DispatcherService dispatcher(String registry, Topics topics) {
    return DispatcherService.start(
        DispatcherConfig.of(
            Map.of(
                DispatcherConfig.BOOTSTRAP_SERVERS,
                TestCluster.bootstrapServers(),
                DispatcherConfig.SCHEMA_REGISTRY_URL,
                registry,
                DispatcherConfig.TOPIC_PREFIX,
                topics.prefix(),
                DispatcherConfig.HTTP_PORT,
                "0")));
  }
}
