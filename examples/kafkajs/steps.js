// Does what a test says, with the agent of fairway-agent.js, and prints each decision that it waited for.
//
// stdin: {"bootstrap": .., "registry": .., "schemas": .., "prefix": .., "agent_id": .., "wrong_partitioner": bool,
//         "steps": [{"ask": request, "headers": {name: hex}} | {"await": request id, "status": ..}
//                   | {"settle": settlement, "lease_of": request id}]}
// stdout: [{"decision": {..}, "headers": {name: hex}}], one for each await. Bytes are {"hex": ".."}.
const { Partitioners } = require('kafkajs')
const { Agent } = require('./fairway-agent')
const fs = require('fs')

const PATIENCE_MS = 60_000

const fromJson = (_, value) =>
  value && Object.keys(value).join() === 'hex' ? Buffer.from(value.hex, 'hex') : value
const toJson = (_, value) =>
  value && value.type === 'Buffer' ? { hex: Buffer.from(value.data).toString('hex') } : value
const mapValues = (object, f) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, f(value)]))

async function awaitDecision(agent, leases, requestId, status) {
  const until = Date.now() + PATIENCE_MS
  for (;;) {
    const answer = await agent.decision(until - Date.now())
    if (!answer) {
      throw new Error(`Expected ${status} for ${requestId}, but none came`)
    }
    const { decision, headers } = answer
    if (decision.granted) {
      leases.set(decision.request_id, decision.granted.lease_id)
    }
    if (decision.request_id === requestId && decision.status === status) {
      return { decision, headers: mapValues(headers, (value) => value.toString('hex')) }
    }
  }
}

async function main() {
  const job = JSON.parse(fs.readFileSync(0, 'utf8'), fromJson)
  const agent = await Agent.start({
    ...job,
    agentId: job.agent_id,
    createPartitioner: job.wrong_partitioner
      ? Partitioners.LegacyPartitioner
      : Partitioners.DefaultPartitioner,
  })
  const leases = new Map()
  const seen = []
  for (const step of job.steps) {
    if (step.ask) {
      await agent.ask(step.ask, mapValues(step.headers ?? {}, (value) => Buffer.from(value, 'hex')))
    } else if (step.settle) {
      const lease = step.lease_of ? { lease_id: leases.get(step.lease_of) } : {}
      await agent.settle({ ...step.settle, ...lease })
    } else {
      seen.push(await awaitDecision(agent, leases, step.await, step.status))
    }
  }
  await agent.close()
  console.log(JSON.stringify(seen, toJson))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
