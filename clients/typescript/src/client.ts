// The gate for those who ask, and the inbox for those who answer.

import { checked, copied, of, readDecision, refused, type Call } from './call.js'
import { Cancelled, CouldNotFindOut, Denied, Invalid, Mismatch, NotAllowed, NotFound, PresentationWanted, Unreachable, type Decision } from './errors.js'
import { Malformed, parse } from './json.js'
import type { components, paths } from './schema.js'
import { grace, object, Wire, type Api, type Where } from './wire.js'

type Schemas = components['schemas']
export type Event = Schemas['Event']
export type Shown = Pick<Schemas['Request'], 'id' | 'digest' | 'content'>
export type Answer = Omit<Schemas['Answer'], 'id' | 'digest' | 'content' | 'effect'>
type Query = NonNullable<paths['/v1/requests']['get']['parameters']['query']>

// Options are how patient a client is, in seconds.
export interface Options extends Where {
  // How long a wait keeps trying while a server that answered before is away: 30.
  retry?: number
  // Also while it was never there.
  wait?: boolean
}

// Asking is how a call is asked about.
export interface Asking {
  // How many seconds to wait for people; without it until there is a decision.
  patience?: number
  // The caller runs the call at once, and need not redeem.
  immediate?: boolean
  // A person may change the arguments, see of().
  canEdit?: boolean
  // Nobody is asked; what would be asked about is denied.
  strict?: boolean
  // The tool knows of each call whether there is anything to ask: without ask there
  // is not. That, and a payload, count only for a token of the kind tool.
  asking?: boolean
  // What the tool says of the call: required or not, description, payload, …
  ask?: Schemas['ToolAsk']
  facts?: Schemas['Facts']
  // What people are shown; it is asked for if a person will be.
  present?: () => Schemas['Presentation'] | null | Promise<Schemas['Presentation'] | null>
  // Gives the wait up. The request stays open.
  signal?: AbortSignal
}

export type Outcome = Schemas['Outcome'] & { request?: string; session?: string; call_id?: string }

// Client speaks to one server for one principal. api is the generated client, for
// the routes that have no method here.
export class Client {
  readonly api: Api
  readonly #wire: Wire
  readonly #retry: number
  readonly #wait: boolean

  constructor(o: Options) {
    this.#wire = new Wire(o)
    this.api = this.#wire.api
    this.#retry = (o.retry ?? 30) * 1000
    this.#wait = o.wait ?? false
  }

  // admit returns the decision if the call may run, and throws if it may not. If
  // the connection breaks it asks again with the same call, which takes the
  // request up; later, and in another process, that goes on too.
  async admit(call: Call, o: Asking = {}): Promise<Decision> {
    const c = copied({ ...call, call_id: call.call_id || `sayso-${crypto.randomUUID()}` })
    if (o.patience !== undefined && !(o.patience > 0 && o.patience < 31536000)) throw new Invalid('patience is a number of seconds, more than 0 and less than a year')
    const paced = new Pace(this.#retry, this.#wait, o.patience, o.signal)
    for (;;) {
      try {
        return await checked(readDecision(await this.#presented(c, o, paced.left)), c)
      } catch (e) {
        await paced.again(e)
      }
    }
  }

  // #presented asks once, and sends what people are shown if that is wanted.
  async #presented(call: Call, o: Asking, left: number | undefined): Promise<unknown> {
    const within = left === undefined ? Infinity : left * 1000 + grace
    const body: Schemas['Admit'] = {
      call,
      ...(o.facts && { facts: o.facts }), ...(o.ask && { ask: o.ask }), ...(o.asking && { asking: true }), ...(o.strict && { strict: true }),
      ...(o.immediate && { immediate: true }), ...(o.canEdit && { can_edit: true }), ...(left !== undefined && { patience_s: left }),
    }
    const ask = (more: object) => this.#wire.read((i) => this.api.POST('/v1/admissions', { body: { ...body, ...more }, ...i }), o.signal, within)
    if (!o.present) return ask({})
    let ticket: string
    try {
      return await ask({ presentation: 'later' })
    } catch (e) {
      if (!(e instanceof PresentationWanted)) throw e
      ticket = e.ticket
    }
    const shown = await o.present()
    if (!shown) return ask({})
    try {
      return await this.#wire.read((i) => this.api.POST('/v1/requests/{id}/presentation', { ...at(ticket), body: shown, ...i }), o.signal, within)
    } catch (e) {
      throw e instanceof NotFound ? new Unreachable('sending what a person is shown: not found') : e // the server forgot, or is another one now
    }
  }

  // redeem spends an approval on the call about to run: run it if, and only if,
  // this returns. It never tries twice: an approval whose redemption is in doubt is
  // spent.
  async redeem(d: Decision, call: Call): Promise<void> {
    const { receipt } = d
    if (d.effect !== 'allow' || d.state !== 'allowed' || !receipt?.request || !receipt.digest) throw new Denied('', '', d)
    const body = { digest: receipt.digest, call: copied(call) }
    const spent = await this.#wire.read<Schemas['Redeemed']>((i) => this.api.POST('/v1/requests/{id}/redeem', { ...at(receipt.request), body, ...i }))
    if (spent?.redeemed !== true || spent.id !== receipt.request || spent.digest !== receipt.digest) throw new Mismatch('the server redeemed something else')
  }

  // report records what became of a call that ran: of a request, or of a call of a
  // session.
  async report({ request, session = '', call_id = '', ...body }: Outcome): Promise<void> {
    if (request) return this.#none((i) => this.api.POST('/v1/requests/{id}/outcome', { ...at(request), body, ...i }))
    return this.#none((i) => this.api.POST('/v1/sessions/{session}/calls/{call}/outcome', { params: { path: { session, call: call_id } }, body, ...i }))
  }

  // withdraw takes an open request back, and voids an approval that was not redeemed.
  async withdraw(request: string, reason = ''): Promise<void> {
    return this.#none((i) => this.api.POST('/v1/requests/{id}/withdraw', { ...at(request), body: { reason }, ...i }))
  }

  // begin records that a session began; admit does so by itself.
  async begin(session: string, host = ''): Promise<void> {
    return this.#none((i) => this.api.POST('/v1/sessions/{session}/begin', { params: { path: { session } }, body: { host }, ...i }))
  }

  // end records that a session ended. What was remembered for it ends with it.
  async end(session: string): Promise<void> {
    return this.#none((i) => this.api.POST('/v1/sessions/{session}/end', { params: { path: { session } }, body: {}, ...i }))
  }

  // requests are the open ones, oldest first, or those that the query selects.
  async requests(query: Query = {}): Promise<Schemas['Request'][]> {
    return list<Schemas['Requests'], 'requests'>(await this.#twice((i) => this.api.GET('/v1/requests', { params: { query }, ...i })), 'requests')
  }

  // request is one request. The id may be a short one.
  async request(id: string): Promise<Schemas['Request']> {
    return this.#twice((i) => this.api.GET('/v1/requests/{id}', { ...at(id), ...i }))
  }

  // content is everything that may be shown of a request.
  async content(id: string): Promise<Schemas['Content']> {
    return this.#twice((i) => this.api.GET('/v1/requests/{id}/content', { ...at(id), ...i }))
  }

  // answer records an answer to a request as it was shown, and returns the decision
  // that stands. The same answer twice is one answer.
  async answer(r: Shown, effect: 'allow' | 'deny', more: Answer = {}): Promise<Decision> {
    const body = { ...more, digest: r.digest, content: r.content, effect }
    return readDecision(await this.#twice((i) => this.api.POST('/v1/requests/{id}/answer', { ...at(r.id), body, ...i })))
  }

  // answerGroup gives one answer to each of the members of a group, as they were
  // shown, and returns what became of each.
  async answerGroup(group: string, shown: Shown[], effect: 'allow' | 'deny', more: Answer = {}): Promise<[id: string, Decision | NotAllowed][]> {
    const members = shown.map(({ id, digest, content }) => ({ id, digest, content }))
    const answer = await this.#wire.read((i) => this.api.POST('/v1/groups/{group}/answer', { params: { path: { group } }, body: { ...more, members, effect }, ...i }))
    return list<Schemas['GroupResult'], 'results'>(answer, 'results').map((r) => [r.id, r.error ? this.#wire.problem(r.error) : readDecision(r.decision)])
  }

  // life is the events of one request.
  async life(id: string): Promise<Event[]> {
    return list<Schemas['Life'], 'events'>(await this.#twice((i) => this.api.GET('/v1/requests/{id}/life', { ...at(id), ...i })), 'events')
  }

  // head is the end of the log.
  async head(): Promise<Schemas['Head']> {
    return this.#twice((i) => this.api.GET('/v1/head', i))
  }

  // follow yields the events behind a place in the log, or from now on, and goes on
  // as it grows. When a connection breaks it resumes behind the last event that it
  // yielded: none is missed and none comes twice.
  async *follow(o: { since?: number; session?: string; types?: string[]; request?: string; signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    const paced = new Pace(this.#retry, this.#wait, undefined, o.signal)
    let since = o.since
    for (;;) {
      try {
        since ??= seq(await this.#wire.read((i) => this.api.GET('/v1/head', i), o.signal))
        const query = { since, ...(o.session && { session: o.session }), ...(o.request && { request: o.request }), ...(o.types?.length && { type: o.types }) }
        for await (const data of this.#wire.events((i) => this.api.GET('/v1/events', { params: { query }, ...i } as never), o.signal)) {
          paced.heard()
          if (data === null) continue
          const event = parse(data)
          if (seq(event) <= since) continue
          since = seq(event)
          yield event as unknown as Event
        }
      } catch (e) {
        await paced.again(e instanceof Malformed ? new CouldNotFindOut(`an event cannot be read: ${e.message}`) : e)
      }
    }
  }

  // #none is for what has no answer but that it was done.
  async #none(ask: Parameters<Wire['read']>[0]): Promise<void> {
    if ((await this.#wire.read(ask)) !== undefined) throw new CouldNotFindOut('the answer is none that belongs here')
  }

  // #twice does what changes nothing when it is done again, once more if the
  // connection breaks.
  async #twice<T>(ask: Parameters<Wire['read']>[0]): Promise<T> {
    let answer: unknown
    try {
      answer = await this.#wire.read(ask)
    } catch (e) {
      if (!(e instanceof Unreachable) || e.refused) throw e
      answer = await this.#wire.read(ask)
    }
    if (answer === undefined) throw new CouldNotFindOut('the answer is empty')
    return answer as T
  }
}

const at = (id: string) => ({ params: { path: { id } } })

function list<T, K extends keyof T & string>(answer: unknown, member: K): T[K] {
  const found = (answer as Record<string, unknown> | undefined)?.[member]
  if (!Array.isArray(found)) throw new CouldNotFindOut(`the answer holds no ${member}`)
  return found as T[K]
}

function seq(event: unknown): number {
  const n = object(event).seq
  if (typeof n !== 'number' || !Number.isSafeInteger(n) || n < 0) throw new CouldNotFindOut('an event cannot be read: it has no place in the log')
  return n
}

// Pace paces the attempts of one wait that goes on over broken connections. It
// goes by a clock that nobody sets.
class Pace {
  readonly #until: number | undefined
  #contact: number | undefined // when the server was last heard of
  #pause = 0

  constructor(readonly retry: number, wait: boolean, patience: number | undefined, readonly signal: AbortSignal | undefined) {
    const now = performance.now()
    if (wait) this.#contact = now
    this.#until = patience === undefined ? undefined : now + patience * 1000
  }

  heard(): void {
    this.#contact = performance.now()
    this.#pause = 0
  }

  // left is how many seconds of patience are.
  get left(): number | undefined {
    return this.#until === undefined ? undefined : Math.max((this.#until - performance.now()) / 1000, 0.001)
  }

  // again pauses before the next attempt, or throws if there is none.
  async again(e: unknown): Promise<void> {
    if (this.signal?.aborted) throw new Cancelled('the wait was given up')
    if (!(e instanceof Unreachable)) throw refused(e)
    const now = performance.now()
    if (!e.refused && this.#pause === 0) this.#contact = now // it was there a moment ago
    if (this.#contact === undefined || now - this.#contact > this.retry) throw e
    this.#pause = Math.min(Math.max(2 * this.#pause, 50), 2000)
    const pause = this.#pause * (0.5 + Math.random() / 2)
    if (this.#until !== undefined && now + pause > this.#until) throw e
    await new Promise<void>((done) => {
      const timer = setTimeout(done, pause)
      this.signal?.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true })
    })
  }
}

// guard puts the gate before a tool that takes one object: it runs on a yes and
// throws a NotAllowed otherwise. It runs with the arguments that were allowed,
// edited ones if a person edited them; the approval is redeemed just before, and
// what became of it is reported after. options may be told for each call, from its
// arguments: what the tool says of it (asking, ask), and what people are shown.
export function guard<A extends object, R>(
  client: Client, about: Omit<Call, 'args' | 'call_id'> & { options?: Asking | ((args: A) => Asking) }, run: (args: A) => R | Promise<R>,
): (args: A, more?: { call_id?: string; signal?: AbortSignal }) => Promise<R> {
  const { options, ...rest } = about
  return async (args, more = {}) => {
    const call = copied({ ...rest, args: args as Call['args'], ...(more.call_id && { call_id: more.call_id }) })
    const told = typeof options === 'function' ? options(copied(call).args as A) : options
    const d = await client.admit(call, { canEdit: true, ...told, ...(more.signal && { signal: more.signal }) })
    const allowed = of(d, call)
    await client.redeem(d, allowed)
    const begun = performance.now()
    let failed = true
    try {
      const out = await run(allowed.args as A)
      failed = false
      return out
    } finally {
      const took_s = (performance.now() - begun) / 1000
      await client.report({ request: d.id, failed, took_s }).catch(() => {}) // then the log says that the outcome is unknown
    }
  }
}
