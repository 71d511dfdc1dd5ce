// The public API, as docs/openapi.json describes it. The page uses nothing else.
import { parse, write } from './json'
import type { components } from './schema'

type Schemas = components['schemas']
export type Request = Schemas['Request']
export type Requests = Schemas['Requests']
export type Content = Schemas['Content']
export type Presentation = Schemas['Presentation']
export type Mark = Schemas['Mark']
export type Token = NonNullable<Content['tokens']>[number]
export type Decision = Schemas['Decision']
export type Actor = Schemas['Actor']
export type CoverOffer = Schemas['CoverOffer']
export type Verdict = Schemas['Verdict']
export type Mode = Schemas['ModeState']
export type Session = Schemas['SessionInfo']
export type Policies = Record<string, 'allow' | 'ask' | 'deny'>
export type Grant = Schemas['Grant']
export type Status = Schemas['Report']
export type PolicyFiles = Schemas['PolicyFiles']
export type PolicyFile = Schemas['PolicyFile']
export type Explanation = Schemas['Explanation']
export type ToWrite = Schemas['Edit']
export type Notices = Schemas['Notices']
export type Definition = Schemas['Definition']
export type Definitions = Schemas['Definitions']
export type Replayed = Schemas['Replayed']
export type Turned = Schemas['Turned']
export type Problem = Schemas['Problem']
export type Code = Problem['code']
export type Answer = Omit<Schemas['Answer'], 'id'>
export type Event = Omit<Schemas['Event'], 'payload'> & { payload: Record<string, unknown> }

// Refused is an error that the server gave a name.
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title)
  }
  get code(): Code {
    return this.problem.code
  }
}

const place = 'sayso.token'

// The token is kept for this tab alone. No cookie authorises anything.
export const token = {
  get: () => sessionStorage.getItem(place),
  set: (secret: string) => sessionStorage.setItem(place, secret),
  drop: () => sessionStorage.removeItem(place),
}

// skew is how far the server's clock is ahead of this machine's, in
// milliseconds. Its answers say what time it is, by the second.
export let skew = 0

function heard(answer: Response) {
  const at = Date.parse(answer.headers.get('Date') ?? '')
  if (!Number.isNaN(at) && Math.abs(at + 500 - Date.now() - skew) > 1500) skew = at + 500 - Date.now()
}

async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = {}
  const secret = token.get()
  if (secret) headers.Authorization = `Bearer ${secret}`
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const answer = await fetch(path, { method, headers, body: body === undefined ? null : write(body), signal: signal ?? null, credentials: 'omit', redirect: 'error' })
  heard(answer)
  if (answer.status === 204) return undefined as T
  const out = parse(await answer.text())
  if (!answer.ok) throw new Refused(out as Problem)
  return out as T
}

const at = (id: string) => `/v1/requests/${encodeURIComponent(id)}`

export const api = {
  login: (code: string) => call<{ token: string }>('POST', '/v1/login', { code }),
  logout: () => call<void>('POST', '/v1/logout', {}),
  open: () => call<Requests>('GET', '/v1/requests?state=open'),
  request: (id: string, signal?: AbortSignal) => call<Request>('GET', at(id), undefined, signal),
  content: (id: string, signal?: AbortSignal) => call<Content>('GET', `${at(id)}/content?tokens=true`, undefined, signal),
  answer: (id: string, answer: Answer) => call<Decision>('POST', `${at(id)}/answer`, answer),
  answerGroup: (group: string, answer: Schemas['Group']) => call<Schemas['GroupResult']>('POST', `/v1/groups/${encodeURIComponent(group)}/answer`, answer),
  check: (asked: unknown) => call<Verdict>('POST', '/v1/policy/check', { call: asked }),
  history: (query: URLSearchParams, signal?: AbortSignal) => call<Requests>('GET', `/v1/history?${query}`, undefined, signal),
  life: (id: string, signal?: AbortSignal) => call<{ events: Event[] }>('GET', `${at(id)}/life`, undefined, signal),
  grants: (all: boolean, signal?: AbortSignal) => call<Schemas['GrantList']>('GET', `/v1/grants?all=${all}`, undefined, signal),
  revoke: (id: string) => call<void>('DELETE', `/v1/grants/${encodeURIComponent(id)}`),
  head: () => call<Schemas['Head']>('GET', '/v1/head'),
  sessions: (signal?: AbortSignal) => call<Schemas['Sessions']>('GET', '/v1/sessions', undefined, signal),
  policies: (session: string, signal?: AbortSignal) => call<{ policies: Policies }>('GET', `/v1/sessions/${encodeURIComponent(session)}/policies`, undefined, signal),
  setPolicies: (session: string, policies: Policies) => call<void>('PUT', `/v1/sessions/${encodeURIComponent(session)}/policies`, { policies }),
  setMode: (mode: Schemas['Mode']) => call<void>('PUT', '/v1/mode', mode),
  status: (signal?: AbortSignal) => call<Status>('GET', '/v1/status', undefined, signal),
  policyFiles: (signal?: AbortSignal) => call<PolicyFiles>('GET', '/v1/policy/files', undefined, signal),
  explain: (what: { request: string } | { call: unknown; assume: boolean }, signal?: AbortSignal) => call<Explanation>('POST', '/v1/policy/explain', what, signal),
  replay: (policy: string, days: number, signal?: AbortSignal) => call<Replayed>('POST', '/v1/policy/replay', { policy, since: `${days * 24}h` }, signal),
  mode: (session = '', signal?: AbortSignal) => call<Mode>('GET', `/v1/mode${session ? `?session=${encodeURIComponent(session)}` : ''}`, undefined, signal),
  definitions: (signal?: AbortSignal) => call<Definitions>('GET', '/v1/definitions', undefined, signal),
  acceptDefinition: (shown: Schemas['Accept']) => call<void>('POST', '/v1/definitions/accept', shown),
  keepDefinition: (shown: Schemas['Accept']) => call<void>('POST', '/v1/definitions/keep', shown),
  notices: (signal?: AbortSignal) => call<Notices>('GET', '/v1/notices', undefined, signal),
  retry: (id: string) => call<Schemas['Notice']>('POST', `/v1/notices/${encodeURIComponent(id)}/retry`, {}),
}

// quiet is how long a stream may say nothing before it counts as lost. The
// server gives a sign of life every 15 seconds.
const quiet = 35_000

// follow reads the log from a position on until the stream ends, and then
// throws. Events come in batches, as they arrive.
export async function follow(since: number, opened: () => void, take: (events: Event[]) => void, signal: AbortSignal): Promise<never> {
  const lost = new AbortController()
  const stop = () => lost.abort()
  signal.addEventListener('abort', stop)
  let timer = setTimeout(stop, quiet)
  try {
    const answer = await fetch(`/v1/events?since=${since}`, {
      headers: { Authorization: `Bearer ${token.get() ?? ''}` },
      signal: lost.signal, credentials: 'omit', cache: 'no-store', redirect: 'error',
    })
    heard(answer)
    if (!answer.ok || !answer.body) throw new Refused(await answer.json())
    opened()
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) throw new Error('the stream ended')
      clearTimeout(timer)
      timer = setTimeout(stop, quiet)
      const frames = (rest + value).split('\n\n')
      rest = frames.pop() ?? ''
      const events = frames.map(eventIn).filter((e) => e !== null)
      if (events.length > 0) take(events)
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    lost.abort()
  }
}

// eventIn is the event of one frame; comments and the like have none.
function eventIn(frame: string): Event | null {
  const data = frame.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
  return data.length > 0 ? (parse(data.join('\n')) as Event) : null
}
