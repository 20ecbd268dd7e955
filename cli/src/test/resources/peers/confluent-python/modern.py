"""Asks the registry through Confluent's newer Python client, which needs no Avro library for that.

stdin: {"registry": url, "subject": name, "schema": Avro schema as text}
stdout: {"id": .., "version": .., "schema": .., "subjects": [..], "compatible": ..}
"""

import json
import sys

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

job = json.load(sys.stdin)
client = SchemaRegistryClient({"url": job["registry"]})
schema = Schema(job["schema"], "AVRO")
schema_id = client.register_schema(job["subject"], schema)
version = client.get_latest_version(job["subject"])
print(
    json.dumps(
        {
            "id": schema_id,
            "version": version.version,
            "found": client.lookup_schema(job["subject"], schema).schema_id,
            "schema": client.get_schema(schema_id).schema_str,
            "versions": client.get_versions(job["subject"]),
            "subjects": client.get_subjects(),
        }
    )
)
