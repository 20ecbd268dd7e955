// A Fairway agent on kafkajs: docs/protocol.md in code, and nothing beyond it.
import { type Admin, type Consumer, type IHeaders, Kafka, type KafkaMessage, Partitioners, type Producer, logLevel } from 'kafkajs'
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { randomUUID } from 'crypto'
import { setTimeout as sleep } from 'timers/promises'
import * as fs from 'fs'
import * as path from 'path'

// The records as this agent writes and reads them; docs/schemas has every field.
export interface LeaseRequest {
  request_id: string
  quota: string
  role?: string
  task_id?: string
  retry_of?: string
  correlation?: Buffer
  estimate: { input_tokens: number; cached_tokens?: number; max_output_tokens?: number; method?: string }
}
export interface Settlement {
  lease_id?: string
  request_id?: string
  quota: string
  outcome: 'IN_PROGRESS' | 'SUCCEEDED' | 'RATE_LIMITED' | 'OVERLOADED' | 'FAILED_AFTER_SEND' | 'NOT_SENT' | 'CANCELLED'
  usage?: { input_tokens: number; output_tokens: number }
  signal?: { status: number; class: string; age_ms: number; ms_since_send: number }
}
export interface Decision {
  decision_id: string
  request_id: string
  decided_at_ms: number
  epoch: number
  sequence: number
  status: 'GRANTED' | 'QUEUED' | 'REJECTED'
  granted: { lease_id: string; ttl_ms: number; expires_at_ms: number } | null
  queued: { position: number; eta_ms: number } | null
  rejected: { reason: string; detail: string; retry_after_ms: number | null } | null
}
export interface Answer {
  decision: Decision
  headers: IHeaders
}
export interface Options {
  bootstrap: string
  registry: string
  schemas: string // folder with the schemas of docs/schemas
  agentId: string
  prefix?: string
  createPartitioner?: typeof Partitioners.DefaultPartitioner
}

const ANSWER_MS = 2_000 // a request without an answer is sent again after this, then after twice as long, and so on
const SOON_MS = 1_000 // pause before asking anew where nobody says when
const NOTHING_SENT = ['LEASE_EXPIRED', 'STALE'] // the grant got lost, or the request was too old when it was read
const REMEMBERED_MAX = 10_000 // requests of which the newest decision is remembered
const UNREAD_MAX = 1_000 // decisions that wait for the program; beyond it the oldest go
const CLOCK_WINDOW_MS = 300_000 // how long the fastest decision tells how the coordinator's clock differs from this one
const TOPIC_MS = 30_000 // longest wait for the reply topic after the first request

const replyTopic = (prefix: string, agentId: string): string =>
  agentId.includes(':') // no topic name may have a colon
    ? `${prefix}replies-hex.${Buffer.from(agentId, 'ascii').toString('hex')}`
    : `${prefix}replies.${agentId}`

// After how long to ask again after a REJECT, null for never, and what that request names in retry_of.
function comeBack(decision: Decision, retryOf?: string): { pauseMs: number | null; retryOf?: string } {
  const { reason, retry_after_ms: told } = decision.rejected!
  const pauseMs = told === null ? null : Number(told)
  if (NOTHING_SENT.includes(reason)) {
    return { pauseMs: pauseMs ?? SOON_MS, retryOf }
  }
  // It has the place of the one that was rejected.
  return { pauseMs: reason === 'DEADLINE_PASSED' ? (pauseMs ?? SOON_MS) : pauseMs, retryOf: decision.request_id }
}

export class Agent {
  static async start(options: Options): Promise<Agent> {
    const agent = new Agent(options)
    await agent.#start(options)
    return agent
  }

  readonly agentId: string
  readonly #requests: string
  readonly #settlements: string
  readonly #replies: string
  readonly #registry: SchemaRegistry
  readonly #admin: Admin
  readonly #producer: Producer
  readonly #groupId: string
  readonly #consumer: Consumer
  #requestSchema = 0
  #settlementSchema = 0
  #reading: Promise<void> | null = null
  #newest = new Map<string, { id: string; epoch: number; sequence: number }>()
  #unread: Answer[] = []
  #clockOffsetMs: number | null = null
  #clockWindowEnds = 0
  #wake = () => {}

  private constructor({ bootstrap, registry, agentId, prefix = 'fairway.', createPartitioner = Partitioners.DefaultPartitioner }: Options) {
    const kafka = new Kafka({ clientId: agentId, brokers: bootstrap.split(','), logLevel: logLevel.ERROR })
    this.agentId = agentId
    this.#requests = `${prefix}requests`
    this.#settlements = `${prefix}settlements`
    this.#replies = replyTopic(prefix, agentId)
    this.#registry = new SchemaRegistry({ host: registry })
    this.#admin = kafka.admin()
    this.#producer = kafka.producer({ createPartitioner, allowAutoTopicCreation: false })
    // kafkajs reads in groups only. One of its own for each process: no earlier process of the agent holds the partition.
    this.#groupId = `fairway-agent-${agentId}-${randomUUID()}`
    this.#consumer = kafka.consumer({
      groupId: this.#groupId,
      allowAutoTopicCreation: false,
      maxWaitTimeInMs: 500,
    })
  }

  async #start({ schemas }: Options): Promise<void> {
    await Promise.all([this.#admin.connect(), this.#producer.connect(), this.#consumer.connect()])
    this.#requestSchema = await this.#schemaId(this.#requests, path.join(schemas, 'LeaseRequest.avsc'))
    this.#settlementSchema = await this.#schemaId(this.#settlements, path.join(schemas, 'Settlement.avsc'))
    if (await this.#exists()) {
      this.#reading = this.#readFromEnd()
      await this.#reading
    }
  }

  // What the subject has is good for writing, whoever registered it. To register would also compare the subject's
  // compatibility level, and Apicurio says NONE of every subject without a level of its own.
  async #schemaId(topic: string, file: string): Promise<number> {
    const subject = `${topic}-value`
    try {
      return await this.#registry.getLatestSchemaId(subject)
    } catch {
      const schema = { type: SchemaType.AVRO as const, schema: fs.readFileSync(file, 'utf8') }
      const compatibility = COMPATIBILITY.BACKWARD_TRANSITIVE
      const { id } = await this.#registry.register(schema, { subject, compatibility })
      return id
    }
  }

  async #exists(): Promise<boolean> {
    return (await this.#admin.listTopics()).includes(this.#replies)
  }

  // The end as a number, before the first request is sent: no decision falls into a gap.
  async #readFromEnd(): Promise<void> {
    const high = (await this.#admin.fetchTopicOffsets(this.#replies))[0]!.high
    await this.#consumer.subscribe({ topic: this.#replies, fromBeginning: true })
    await this.#consumer.run({ eachMessage: (read) => this.#take(read.message) })
    this.#consumer.seek({ topic: this.#replies, partition: 0, offset: high })
  }

  // The topic is created on the agent's first request, and read from its beginning: everything in it is new.
  async #readNewTopic(): Promise<void> {
    const until = Date.now() + TOPIC_MS
    while (!(await this.#exists())) {
      if (Date.now() > until) {
        throw new Error(`Expected ${this.#replies} within ${TOPIC_MS} ms of the first request; is Fairway up, and the agent registered?`)
      }
      await sleep(100)
    }
    await this.#consumer.subscribe({ topic: this.#replies, fromBeginning: true })
    await this.#consumer.run({ eachMessage: (read) => this.#take(read.message) })
  }

  // Sends a request, and waits for the broker, not for the decision.
  async ask(request: LeaseRequest, headers: IHeaders = {}): Promise<void> {
    await this.#send(this.#requests, this.#requestSchema, { ...request, agent_id: this.agentId }, headers)
    this.#reading ??= this.#readNewTopic().catch((error) => {
      this.#reading = null
      throw error
    })
    await this.#reading
  }

  // Says what a call used, and waits for the broker.
  async settle(settlement: Settlement): Promise<void> {
    await this.#send(this.#settlements, this.#settlementSchema, { ...settlement, agent_id: this.agentId }, {})
  }

  async #send(topic: string, schemaId: number, record: { quota: string; agent_id: string }, headers: IHeaders): Promise<void> {
    const value = await this.#registry.encode(schemaId, record)
    await this.#producer.send({
      topic,
      acks: -1,
      messages: [{ key: record.quota.split('/')[0]!, value, headers }],
    })
  }

  async #take(message: KafkaMessage): Promise<void> {
    const decision: Decision = await this.#registry.decode(message.value!)
    this.#noteClock(decision)
    if (this.#isNews(decision)) {
      this.#unread.push({ decision, headers: message.headers ?? {} })
      this.#unread.splice(0, this.#unread.length - UNREAD_MAX)
      this.#wake()
    }
  }

  // Decisions come at least once, and can come late.
  #isNews({ request_id: requestId, decision_id: id, epoch, sequence }: Decision): boolean {
    const newest = this.#newest.get(requestId)
    const isNews =
      !newest ||
      (id !== newest.id && (epoch > newest.epoch || (epoch === newest.epoch && sequence >= newest.sequence)))
    this.#newest.delete(requestId)
    this.#newest.set(requestId, isNews ? { id, epoch, sequence } : newest)
    if (this.#newest.size > REMEMBERED_MAX) {
      this.#newest.delete(this.#newest.keys().next().value!) // the one not heard of for longest
    }
    return isNews
  }

  // The next decision as { decision, headers }, or null if none came in time.
  async decision(timeoutMs: number): Promise<Answer | null> {
    if (this.#unread.length === 0) {
      const stop = new AbortController()
      await Promise.race([
        new Promise<void>((resolve) => (this.#wake = resolve)),
        sleep(timeoutMs, undefined, { signal: stop.signal }).catch(() => {}),
      ])
      stop.abort()
    }
    return this.#unread.shift() ?? null
  }

  // Asks until there is an answer, waits in line, and returns the GRANTED or REJECTED decision. Its request_id may be
  // another than the request's: a grant that came too late is given back and asked for anew, and who is told when to come
  // back comes back, if that is in time.
  async lease(request: LeaseRequest, timeoutMs: number): Promise<Decision> {
    const until = Date.now() + timeoutMs
    for (;;) {
      const askedAt = performance.now()
      const decision = await this.#answer(request, until, timeoutMs)
      if (decision.granted) {
        if (!this.#isLate(decision, decision.granted.ttl_ms, askedAt)) {
          return decision
        }
        const { quota, request_id } = request
        await this.settle({ lease_id: decision.granted.lease_id, request_id, quota, outcome: 'NOT_SENT' })
      } else {
        const { pauseMs, retryOf } = comeBack(decision, request.retry_of)
        if (pauseMs === null || Date.now() + pauseMs > until) {
          return decision
        }
        await sleep(pauseMs)
        request = { ...request, retry_of: retryOf }
      }
      request = { ...request, request_id: randomUUID() } // each id is over
    }
  }

  // The smallest difference is that of the clocks: no decision is read before it was made.
  #noteClock(decision: Decision): void {
    const now = performance.now()
    const offsetMs = now - Number(decision.decided_at_ms)
    if (this.#clockOffsetMs === null || now > this.#clockWindowEnds) {
      this.#clockWindowEnds = now + CLOCK_WINDOW_MS
      this.#clockOffsetMs = offsetMs
    }
    this.#clockOffsetMs = Math.min(this.#clockOffsetMs, offsetMs)
  }

  // Whether the lease is over. It never is within its TTL of the request.
  #isLate(decision: Decision, ttlMs: number, askedAt: number): boolean {
    const decidedAt = Number(decision.decided_at_ms) + this.#clockOffsetMs!
    return performance.now() > Math.max(askedAt, decidedAt) + Number(ttlMs)
  }

  async #answer(request: LeaseRequest, until: number, timeoutMs: number): Promise<Decision> {
    let silentMs = ANSWER_MS
    let answered = false
    await this.ask(request)
    let askedAt = Date.now()
    while (Date.now() < until) {
      const answer = await this.decision(100)
      if (answer && answer.decision.request_id === request.request_id) {
        answered = true
        if (answer.decision.status !== 'QUEUED') {
          return answer.decision
        }
      }
      if (!answered && Date.now() - askedAt > silentMs) {
        await this.ask(request) // the same record: it is idempotent
        askedAt = Date.now()
        silentMs = Math.min(30_000, 2 * silentMs)
      }
    }
    // Out of patience: leave the line, or give back a grant that is on its way.
    await this.settle({ request_id: request.request_id, quota: request.quota, outcome: 'CANCELLED' })
    throw new Error(`No lease for ${request.request_id} within ${timeoutMs} ms`)
  }

  async close(): Promise<void> {
    await Promise.all([this.#producer.disconnect(), this.#consumer.disconnect()])
    if (this.#reading) {
      await this.#admin.deleteGroups([this.#groupId])
    }
    await this.#admin.disconnect()
  }
}
