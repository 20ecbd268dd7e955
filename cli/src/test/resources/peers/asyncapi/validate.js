// Validates an AsyncAPI document, Avro schemas included.
//
// stdin: {"file": path}
// stdout: {"version": .., "diagnostics": [..], "channels": {address: [message names]}, "fields": {message: [field names]}}
const { Parser, fromFile } = require('@asyncapi/parser')
const { AvroSchemaParser } = require('@asyncapi/avro-schema-parser')
const fs = require('fs')

async function main() {
  const job = JSON.parse(fs.readFileSync(0, 'utf8'))
  const parser = new Parser({ schemaParsers: [AvroSchemaParser()] })
  const { document, diagnostics } = await fromFile(parser, job.file).parse()
  const channels = {}
  const fields = {}
  for (const channel of document ? document.channels().all() : []) {
    channels[channel.address()] = channel.messages().all().map((message) => message.name())
    for (const message of channel.messages().all()) {
      const properties = message.payload() ? message.payload().properties() : undefined
      fields[message.name()] = Object.keys(properties || {})
    }
  }
  console.log(
    JSON.stringify({
      version: document && document.version(),
      diagnostics: diagnostics.map(({ code, severity, message, path }) => ({
        code,
        severity,
        message,
        path: path.join('/'),
      })),
      channels,
      fields,
    }),
  )
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
