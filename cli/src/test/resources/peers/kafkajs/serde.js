// Writes and reads the Confluent wire format with kafkajs' schema registry client.
//
// stdin: {"registry": url, "topic": name, "schema": Avro schema as text, "record": {...}, "bytes": hex}
// stdout: {"bytes": hex of the record, "id": schema id, "record": what the given bytes hold}
// Values of type bytes are written as {"hex": "..."}.
const { SchemaRegistry, SchemaType, COMPATIBILITY } = require('@kafkajs/confluent-schema-registry')
const fs = require('fs')

const plain = (key, value) =>
  value && value.type === 'Buffer' ? { hex: Buffer.from(value.data).toString('hex') } : value

async function main() {
  const job = JSON.parse(fs.readFileSync(0, 'utf8'))
  const registry = new SchemaRegistry({ host: job.registry })
  const subject = `${job.topic}-value`
  const { id } = await registry.register(
    { type: SchemaType.AVRO, schema: job.schema },
    { subject, compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE },
  )
  const written = await registry.encode(id, job.record)
  const record = await registry.decode(Buffer.from(job.bytes, 'hex'))
  const result = {
    bytes: written.toString('hex'),
    id,
    latest: await registry.getLatestSchemaId(subject),
    found: await registry.getRegistryIdBySchema(subject, { type: SchemaType.AVRO, schema: job.schema }),
    record,
  }
  console.log(JSON.stringify(result, plain))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
