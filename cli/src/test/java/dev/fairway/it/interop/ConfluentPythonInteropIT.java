package dev.fairway.it.interop;

/** Confluent's Python client, which is librdkafka; its default partitioner is the wrong one. */
class ConfluentPythonInteropIT extends AgentProgramContract {

  ConfluentPythonInteropIT() {
    super(AgentProgram.CONFLUENT_PYTHON, "python", "python-stray-1");
  }
}
