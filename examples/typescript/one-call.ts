// One model call under a lease.
//
// npm run build && node one-call.js BOOTSTRAP REGISTRY SCHEMAS PREFIX AGENT QUOTA REQUEST
import { Agent } from './fairway-agent'

async function main() {
  if (process.argv.length !== 9) {
    throw new Error('node one-call.js BOOTSTRAP REGISTRY SCHEMAS PREFIX AGENT QUOTA REQUEST')
  }
  const [bootstrap, registry, schemas, prefix, agentId, quota, requestId] = process.argv.slice(2) as [string, string, string, string, string, string, string]
  const agent = await Agent.start({ bootstrap, registry, schemas, prefix, agentId })
  const decision = await agent.lease(
    {
      request_id: requestId,
      quota,
      role: 'worker',
      estimate: { input_tokens: 300, max_output_tokens: 100, method: 'tokenizer' },
    },
    60_000,
  )
  if (!decision.granted) {
    throw new Error(`${decision.rejected?.reason}: ${decision.rejected?.detail}`)
  }

  const sentAt = performance.now()
  const usage = { input_tokens: 280, output_tokens: 40 } // here the model is called; this is what it said it used
  await agent.settle({
    lease_id: decision.granted.lease_id,
    request_id: decision.request_id,
    quota,
    outcome: 'SUCCEEDED',
    usage,
    signal: { status: 200, class: 'OK', age_ms: 0, ms_since_send: Math.round(performance.now() - sentAt) },
  })
  await agent.close()
  console.log(JSON.stringify({ lease_id: decision.granted.lease_id, usage }))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
