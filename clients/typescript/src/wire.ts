// How requests reach a server, and what of its answers can be believed.

import createClient, { type Client as ApiClient } from 'openapi-fetch'
import { readDecision } from './call.js'
import { Cancelled, CouldNotFindOut, Invalid, NotAllowed, problem, Unreachable, type Decision } from './errors.js'
import { canonical, Malformed, parse } from './json.js'
import type { paths } from './schema.js'

export type Api = ApiClient<paths>

// Where says where a server is, and who asks.
export interface Where {
  // http://127.0.0.1:PORT, https://HOST or, under Node, the path of a socket.
  address: string
  token: string
  // An agent started this program: it must not answer for people.
  underAgent?: boolean
  // What makes requests: the platform's own fetch, unless it is given.
  fetch?: (request: Request) => Promise<Response>
}

const maxAnswer = 64 << 20
export const grace = 30_000 // how long an answer may take that nobody waits for
const silence = 45_000 // a stream that says nothing for so long is broken

// Garbled is what a fetch of ours throws for an answer that is no HTTP.
export class Garbled extends Error {}

// base is the address for the generated client; a socket has no name of its own.
export function base(address: string): string {
  if (address.startsWith('/') || address.startsWith('unix:///')) return 'http://sayso'
  let u: URL
  try {
    u = new URL(address)
  } catch {
    throw new Invalid('the address of a server is http://127.0.0.1:PORT, https://HOST or the path of a socket')
  }
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(address) || address.includes('\\')) throw new Invalid('the address of a server is http://127.0.0.1:PORT, https://HOST or the path of a socket')
  if (u.username || u.password || /[@?#]/.test(address) || u.pathname !== '/') throw new Invalid('the address of a server has no user, path or query')
  const local = u.hostname === 'localhost' || u.hostname === '[::1]' || /^127(\.\d+){3}$/.test(u.hostname)
  const written = address.toLowerCase().startsWith(`${u.protocol}//${u.hostname}`) // not 127.1, which is read as 127.0.0.1 here alone
  if (u.protocol === 'http:' && !(local && written)) throw new Invalid('plain HTTP is spoken on loopback alone; use https')
  return u.origin
}

// Wire carries requests, each through the generated client.
export class Wire {
  readonly api: Api
  readonly #hidden: (text: string) => string
  readonly #name: string

  constructor(w: Where) {
    const { address, token, underAgent } = w
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Invalid('the token is empty or has signs that no token has; `sayso token create` makes one')
    const baseUrl = base(address)
    this.#name = address
    this.#hidden = (text) => (text.replaceAll(token, '<token>').split('\n', 1)[0] ?? '').replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?').slice(0, 300)
    const carry = w.fetch ?? ((request: Request) => fetch(request))
    this.api = createClient<paths>({
      baseUrl, redirect: 'manual', credentials: 'omit', cache: 'no-store', bodySerializer: canonical,
      fetch: (request) => this.#fetch(carry, request),
    })
    this.api.use({
      onRequest: ({ request }) => {
        request.headers.set('Authorization', `Bearer ${token}`)
        if (underAgent) request.headers.set('Sayso-Channel', 'agent-process')
        return request
      },
    })
  }

  // read is the answer to a request of the generated client, which gets the
  // signal to give up by.
  async read<T>(ask: (o: { signal: AbortSignal; parseAs: 'text' }) => Promise<{ data?: unknown }>, signal?: AbortSignal, within = grace): Promise<T> {
    const limit = new AbortController()
    const give = () => limit.abort()
    signal?.addEventListener('abort', give)
    const timer = within < 2 ** 31 ? setTimeout(give, within) : undefined // beyond, timers go off at once
    try {
      if (signal?.aborted) throw new Cancelled('the wait was given up')
      const { data } = await ask({ signal: limit.signal, parseAs: 'text' })
      return (data === undefined ? undefined : parse(data as string)) as T
    } catch (e) {
      throw this.#no(e, signal)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', give)
    }
  }

  // events are the data of the server-sent events of an answer, and null for each
  // beat.
  async *events(open: (o: { signal: AbortSignal; parseAs: 'stream' }) => Promise<{ data?: unknown }>, signal?: AbortSignal): AsyncGenerator<string | null> {
    const limit = new AbortController()
    const give = () => limit.abort()
    signal?.addEventListener('abort', give)
    let timer = setTimeout(give, silence)
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    try {
      if (signal?.aborted) throw new Cancelled('the wait was given up')
      const { data } = await open({ signal: limit.signal, parseAs: 'stream' })
      reader = (data as ReadableStream<Uint8Array>).getReader()
      const text = new TextDecoder('utf-8', { fatal: true })
      let rest = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) throw new Unreachable(`${this.#name}: the stream ended`)
        clearTimeout(timer)
        timer = setTimeout(give, silence)
        rest += text.decode(value, { stream: true })
        if (rest.length > maxAnswer) throw new CouldNotFindOut('an event is too long')
        const blocks = rest.split(/\r?\n\r?\n/)
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const lines = block.split(/\r?\n/).filter((l) => l.startsWith('data:'))
          yield lines.length > 0 ? lines.map((l) => l.slice(l[5] === ' ' ? 6 : 5)).join('\n') : null
        }
      }
    } catch (e) {
      throw this.#no(e, signal)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', give)
      limit.abort()
      reader?.cancel().catch(() => {}) // it is over either way
    }
  }

  // #no is the NotAllowed for whatever went wrong. It hangs on no other error, for
  // those may hold what was sent.
  #no(e: unknown, signal?: AbortSignal): NotAllowed {
    if (signal?.aborted) return new Cancelled('the wait was given up')
    if (e instanceof NotAllowed) return e
    if (e instanceof Malformed) return new CouldNotFindOut(`the answer of ${this.#name} cannot be read: ${e.message}`)
    if (e instanceof Garbled || e instanceof RangeError) return new CouldNotFindOut(`what answers at ${this.#name} is no sayso server`)
    const code = (e as { code?: unknown; cause?: { code?: unknown } } | null)?.code ?? (e as { cause?: { code?: unknown } } | null)?.cause?.code
    const refused = code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'ENOTFOUND'
    const why = refused ? 'nobody answers; is `sayso serve` running?' : typeof code === 'string' ? code : 'the connection broke'
    const lost = new Unreachable(this.#hidden(`${this.#name}: ${why}`))
    lost.refused = refused
    return lost
  }

  // #fetch makes a request, reads the answer to its end, and returns it if it is
  // one that says something. Whatever it is not is thrown.
  async #fetch(carry: (request: Request) => Promise<Response>, request: Request): Promise<Response> {
    const response = await carry(request)
    const { status } = response
    if (status === 204) return response
    const kind = (response.headers.get('Content-Type') ?? '').split(';', 1)[0]?.trim().toLowerCase()
    const streams = kind === 'text/event-stream' && request.url.includes('/v1/events')
    if (status < 200 || (status >= 300 && status < 400) || (!streams && kind !== 'application/json' && kind !== 'application/problem+json')) {
      await response.body?.cancel()
      throw new CouldNotFindOut(`what answers at ${this.#name} is no sayso server (status ${status})`)
    }
    if (status === 200 && streams) return response
    const text = await whole(response)
    const answer = object(parse(text))
    if (status === 200) return new Response(text, { status, headers: { 'Content-Type': 'application/json' } })
    if (status >= 400 || (status === 202 && answer.code === 'pending')) {
      if (answer.code === 'unavailable' && response.headers.get('Retry-After')) throw new Unreachable(`${this.#name}: the server is stopping`)
      throw problem(answer, decision(answer.decision), this.#hidden)
    }
    throw new CouldNotFindOut(`${this.#name} answered with status ${status}, which means nothing here`)
  }

  // problem is the error for one that stands in an answer.
  problem(p: unknown): NotAllowed {
    return problem(p, decision((p as { decision?: unknown } | null)?.decision), this.#hidden)
  }
}

function decision(v: unknown): Decision | undefined {
  try {
    return v === undefined ? undefined : readDecision(v)
  } catch {
    return undefined // the problem stands without it
  }
}

export function object(v: unknown): Record<string, unknown> {
  if (typeof v !== 'object' || v === null || Array.isArray(v)) throw new Malformed('it is no object')
  return v as Record<string, unknown>
}

// whole is the body of an answer.
async function whole(response: Response): Promise<string> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const reader = response.body?.getReader()
  let out = ''
  try {
    while (reader) {
      const { done, value } = await reader.read()
      if (done) break
      out += text.decode(value, { stream: true })
      if (out.length > maxAnswer) throw new Malformed('it is too long')
    }
    return out + text.decode()
  } catch (e) {
    await reader?.cancel().catch(() => {}) // it is over either way
    throw e instanceof TypeError && (e as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? new Malformed('it is no UTF-8') : e
  }
}
