"""Writes and reads the Confluent wire format with Confluent's Python client.

stdin: {"registry": url, "topic": name, "schema": Avro schema as text, "record": {...}, "bytes": hex}
stdout: {"bytes": hex of the record, "id": schema id, "record": what the given bytes hold}
Values of type bytes are written as {"hex": "..."}.
"""

import json
import sys

from confluent_kafka import avro
from confluent_kafka.avro import CachedSchemaRegistryClient, MessageSerializer


def plain(value):
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    raise TypeError(type(value))


job = json.load(sys.stdin)
registry = CachedSchemaRegistryClient(job["registry"])
serializer = MessageSerializer(registry)
schema = avro.loads(job["schema"])
written = serializer.encode_record_with_schema(job["topic"], schema, job["record"])
subject = job["topic"] + "-value"
latest_id, latest, version = registry.get_latest_schema(subject)
print(
    json.dumps(
        {
            "bytes": written.hex(),
            "id": latest_id,
            "version": version,
            "found": registry.check_registration(subject, latest),
            "compatible": registry.test_compatibility(subject, latest),
            "record": serializer.decode_message(bytes.fromhex(job["bytes"])),
        },
        default=plain,
    )
)
