// Validates an OpenAPI document, and answers that a server gave against the schemas in it.
//
// stdin: {"file": path, "answers": [{"path": "/v1/leases", "method": "post", "status": 200, "body": {..}}]}
// stdout: {"valid": bool, "version": .., "errors": [..], "paths": ["POST /v1/leases", ..], "answers": [[errors of the first], ..]}
import { Validator } from '@seriousme/openapi-schema-validator'
import Ajv from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fs from 'fs'

const job = JSON.parse(fs.readFileSync(0, 'utf8'))
const validator = new Validator()
const result = await validator.validate(job.file)
const paths = []
const answers = []
if (result.valid) {
  const document = validator.resolveRefs()
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of Object.keys(item).filter((name) => name !== 'parameters')) {
      paths.push(`${method.toUpperCase()} ${path}`)
    }
  }
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats(ajv)
  for (const { path, method, status, body } of job.answers || []) {
    const response = document.paths[path]?.[method]?.responses?.[status]
    const schema = response?.content?.['application/json']?.schema
    if (!schema) {
      answers.push([`no schema of ${status} of ${method} ${path}`])
      continue
    }
    const check = ajv.compile(schema)
    answers.push(check(body) ? [] : check.errors.map((e) => `${e.instancePath} ${e.message}`))
  }
}
console.log(
  JSON.stringify({
    valid: result.valid,
    version: validator.version,
    errors: result.valid ? [] : [].concat(result.errors),
    paths,
    answers,
  }),
)
