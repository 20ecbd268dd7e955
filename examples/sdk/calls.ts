/**
 * Anthropic's and OpenAI's SDKs as they are: that there is a gateway they know by their base URLs, and by nothing else.
 *
 * ANTHROPIC_BASE_URL=URL OPENAI_BASE_URL=URL/v1 ANTHROPIC_API_KEY=unused OPENAI_API_KEY=unused \
 *   node calls.js MODEL...
 *
 * Models that begin with `claude` are called by Anthropic's SDK, others by OpenAI's. Prints the answer of each call in a line of JSON.
 */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'

const QUESTION = { role: 'user' as const, content: 'Hello' }

function print(call: string, answer: unknown): void {
  console.log(JSON.stringify({ call, answer }))
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = []
  for await (const part of stream) {
    parts.push(part)
  }
  return parts
}

async function anthropic(model: string): Promise<void> {
  const claude = new Anthropic()
  const call = { model, max_tokens: 64, messages: [QUESTION] }
  print('messages', await claude.messages.create(call))
  print('messages, streaming', await all(await claude.messages.create({ ...call, stream: true })))
  print('count_tokens', await claude.messages.countTokens({ model, messages: [QUESTION] }))
}

async function openai(model: string): Promise<void> {
  const gpt = new OpenAI()
  const chat = { model, messages: [QUESTION] }
  print('chat', await gpt.chat.completions.create(chat))
  print('chat, streaming', await all(await gpt.chat.completions.create({ ...chat, stream: true })))
  print('responses', await gpt.responses.create({ model, input: 'Hello' }))
  print('responses, streaming', await all(await gpt.responses.create({ model, input: 'Hello', stream: true })))
}

async function main(): Promise<void> {
  const models = process.argv.slice(2)
  if (models.length === 0) {
    throw new Error('usage: node calls.js MODEL...')
  }
  for (const model of models) {
    await (model.startsWith('claude') ? anthropic(model) : openai(model))
  }
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
