// Does what a test says, with the agent of fairway-agent.js, and prints each decision that it waited for.
//
// stdin: {"bootstrap": .., "registry": .., "schemas": .., "prefix": .., "agent_id": .., "wrong_partitioner": bool,
//         "steps": [{"ask": request, "headers": {name: hex}} | {"await": request id, "status": ..}
//                   | {"settle": settlement, "lease_of": request id}]}
// stdout: [{"decision": {..}, "headers": {name: hex}}], one for each await. Bytes are {"hex": ".."}.
import { type IHeaders, Partitioners } from 'kafkajs'
import { Agent, type Decision, type LeaseRequest, type Settlement } from './fairway-agent'
import * as fs from 'fs'

interface Step {
  ask?: LeaseRequest
  headers?: Record<string, string>
  await?: string
  status?: Decision['status']
  settle?: Settlement
  lease_of?: string
}

const PATIENCE_MS = 60_000

const fromJson = (_: string, value: any): unknown =>
  value && Object.keys(value).join() === 'hex' ? Buffer.from(value.hex, 'hex') : value
const toJson = (_: string, value: any): unknown =>
  value && value.type === 'Buffer' ? { hex: Buffer.from(value.data).toString('hex') } : value
const encoded = (headers: Record<string, string>): IHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, hex]) => [name, Buffer.from(hex, 'hex')]))
const decoded = (headers: IHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, (value as Buffer).toString('hex')]))

async function awaitDecision(agent: Agent, leases: Map<string, string>, requestId: string, status: Decision['status']) {
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
      return { decision, headers: decoded(headers) }
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
  const leases = new Map<string, string>()
  const seen: unknown[] = []
  for (const step of job.steps as Step[]) {
    if (step.ask) {
      await agent.ask(step.ask, encoded(step.headers ?? {}))
    } else if (step.settle) {
      const lease = step.lease_of ? { lease_id: leases.get(step.lease_of)! } : {}
      await agent.settle({ ...step.settle, ...lease })
    } else {
      seen.push(await awaitDecision(agent, leases, step.await!, step.status!))
    }
  }
  await agent.close()
  console.log(JSON.stringify(seen, toJson))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
