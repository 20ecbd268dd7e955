// Which partition kafkajs' default partitioner gives each key.
//
// stdin: {"keys": [..], "partitions": n}; stdout: {"default": [..], "legacy": [..]}
const { Partitioners } = require('kafkajs')
const fs = require('fs')

const job = JSON.parse(fs.readFileSync(0, 'utf8'))
const metadata = Array.from({ length: job.partitions }, (_, partitionId) => ({ partitionId, leader: 0 }))
const partitions = (create) => {
  const partitioner = create()
  return job.keys.map((key) =>
    partitioner({ topic: 't', partitionMetadata: metadata, message: { key, value: '' } }),
  )
}
console.log(
  JSON.stringify({
    default: partitions(Partitioners.DefaultPartitioner),
    legacy: partitions(Partitioners.LegacyPartitioner),
  }),
)
