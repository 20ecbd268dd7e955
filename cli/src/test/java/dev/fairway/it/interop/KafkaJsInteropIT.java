package dev.fairway.it.interop;

/** kafkajs, whose default partitioner is right and whose legacy one is not. */
class KafkaJsInteropIT extends AgentProgramContract {

  KafkaJsInteropIT() {
    super(AgentProgram.KAFKA_JS, "kafkajs", "kafkajs-stray");
  }
}
