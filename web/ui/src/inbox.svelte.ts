// What this page knows: a fold over the log, as far as it concerns open
// requests. Nothing here answers anything.
import { api, follow, Refused, skew, token, type Actor, type Event, type Mode, type Request } from './api'
import { modes } from './words'

// End is how a request ended.
export type End = { state: Request['state']; by: Actor[]; source: string; note: string; at: string; mine: boolean }

// Item is a request with what the queue wants of it: when it must be answered,
// and with which others it stands.
export type Item = { r: Request; end: End | null; yes: Actor[]; due: number; group: string; words?: string }

const itemOf = (r: Request, end: End | null = null): Item => ({
  r, end, yes: [], due: r.deadline ? Date.parse(r.deadline) : Number.MAX_SAFE_INTEGER, group: JSON.stringify([r.session_id, r.host, r.caller]),
})

export type Connection = 'connecting' | 'live' | 'lost' | 'out'

const open = (state: string) => state === 'open' || state === 'parked'

class Inbox {
  items = $state.raw<Map<string, Item>>(new Map())
  connection = $state<Connection>('connecting')
  // onScreen is the request that is looked at. It stays until another is chosen.
  onScreen = $state<string | null>(null)
  mode = $state.raw<Mode | null>(null)
  // modeEnds is when the mode ends, null for never.
  modeEnds = $state<number | null>(null)
  // said is what is read out, and away what happened while the line was cut.
  said = $state('')
  away = $state('')
  now = $state(Date.now() + skew)

  // still says that nothing may leave the list: somebody points at it.
  #still = false
  #seq = 0
  #run: AbortController | null = null
  #waiting: Event[] = []
  #timer = 0
  #lostAt = 0
  #came = 0
  #went = 0

  #listeners = new Set<(events: Event[]) => void>()

  // hear hands all events to f from now on, until what it returns is called.
  hear(f: (events: Event[]) => void): () => void {
    this.#listeners.add(f)
    return () => this.#listeners.delete(f)
  }

  get open(): Item[] {
    return [...this.items.values()].filter((i) => open(i.r.state))
  }

  start() {
    this.stop()
    this.connection = 'connecting'
    this.#run = new AbortController()
    void this.#stay(this.#run.signal)
  }

  stop() {
    this.#run?.abort()
    this.#run = null
    clearTimeout(this.#timer)
    this.#waiting = []
  }

  signOut() {
    this.stop()
    token.drop()
    this.items = new Map()
    this.onScreen = null
    this.#seq = 0
    this.connection = 'out'
  }

  tick() {
    this.now = Date.now() + skew
  }

  // keep shows a request that is not in the list of open ones.
  keep(r: Request) {
    if (this.items.has(r.id)) return
    this.#put(itemOf(r, endOf(r)))
  }

  // close marks a request as ended before the log says so.
  close(id: string, end: End) {
    const item = this.items.get(id)
    if (item && !item.end) this.#put({ ...item, r: { ...item.r, state: end.state }, end })
  }

  look(id: string | null) {
    if (this.onScreen === id) return
    this.onScreen = id
    this.#sweep()
  }

  hold(still: boolean) {
    this.#still = still
    this.#sweep()
  }

  #put(item: Item) {
    this.items = new Map(this.items).set(item.r.id, item)
  }

  // sweep lets go of what ended and is not on the screen.
  #sweep() {
    if (this.#still) return
    const ended = [...this.items.values()].filter((i) => !open(i.r.state) && i.r.id !== this.onScreen)
    if (ended.length === 0) return
    const items = new Map(this.items)
    for (const i of ended) items.delete(i.r.id)
    this.items = items
  }

  // stay follows the log for as long as the page is there. After a break it goes
  // on from the last event that it has.
  async #stay(signal: AbortSignal) {
    for (let wait = 250; !signal.aborted; wait = Math.min(wait * 2, 4000)) {
      try {
        if (this.#seq === 0) await this.#load()
        await follow(this.#seq, () => { wait = 250; this.#back() }, (events) => this.#take(events), signal)
      } catch (e) {
        if (signal.aborted) return
        if (e instanceof Refused && (e.code === 'unauthenticated' || e.code === 'not-allowed')) return this.signOut()
      }
      this.#lose()
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  async #load() {
    const { requests, head } = await api.open()
    this.#seq = head
    this.items = new Map(requests.map((r) => [r.id, itemOf(r)]))
    void this.askMode()
  }

  async askMode() {
    try {
      const mode = await api.mode()
      if (this.mode && mode.mode !== this.mode.mode) this.said = modes[mode.mode] ?? mode.mode
      this.mode = mode
      this.modeEnds = mode.left_s === null ? null : Date.now() + skew + mode.left_s * 1000
    } catch {
      // the connection tells of its own loss
    }
  }

  #lose() {
    if (this.connection === 'live') this.#lostAt = Date.now()
    this.connection = 'lost'
  }

  #back() {
    if (this.connection === 'lost' && this.#lostAt > 0) [this.#came, this.#went, this.away] = [0, 0, 'Connected again.']
    this.connection = 'live'
  }

  // take takes events in small batches: a call that policy decides is asked for
  // and decided in one breath, and never shows. Where thousands wait, it takes them
  // less often.
  #take(events: Event[]) {
    this.#waiting.push(...events)
    if (this.#timer === 0) this.#timer = window.setTimeout(() => { this.#timer = 0; this.#fold() }, this.items.size > 1000 ? 120 : 40)
  }

  #fold() {
    const events = this.#waiting
    this.#waiting = []
    if (events.length === 0) return
    const items = new Map(this.items)
    const before = new Set([...items.values()].filter((i) => open(i.r.state)).map((i) => i.r.id))
    for (const e of events) {
      this.#seq = Math.max(this.#seq, e.seq)
      if (e.type === 'mode.changed') void this.askMode()
      else apply(items, e)
    }
    this.items = items
    this.#sweep()
    this.#tell(before)
    for (const f of this.#listeners) f(events)
  }

  // tell says what came in and what went.
  #tell(before: Set<string>) {
    const now = this.open
    const came = now.filter((i) => !before.has(i.r.id))
    const still = new Set(now.map((i) => i.r.id))
    const went = [...before].filter((id) => !still.has(id)).length
    if (this.#lostAt > 0 && this.away) {
      this.#came += came.length
      this.#went += went
      this.away = `Connected again. Meanwhile ${this.#came} came in and ${this.#went} ended.`
      setTimeout(() => { this.#lostAt = 0 }, 1500)
    }
    const first = came[0]
    if (first) this.said = came.length === 1 ? heading(first.r) : `${came.length} new requests. ${now.length} wait.`
  }
}

export const inbox = new Inbox()

const heading = (r: Request) =>
  `New request: ${r.tool}, ${r.risk}${r.danger.length > 0 ? ', dangerous' : ''}, from ${r.caller || r.host || 'an agent'}.`

// endOf is how a request that was read ended; null for one that is open.
export function endOf(r: Request): End | null {
  if (open(r.state)) return null
  const d = r.decision
  return { state: r.state, by: d?.by ?? [], source: d?.source ?? '', note: d?.note ?? '', at: d?.at ?? r.created_at, mine: false }
}

// apply folds one event.
function apply(items: Map<string, Item>, e: Event) {
  if (e.type === 'approval.requested') {
    const r = e.payload as unknown as Request
    if (!items.has(r.id)) items.set(r.id, itemOf(r))
    return
  }
  const item = items.get(e.approval_id)
  if (!item) return
  const become = (change: Partial<Request>, end: End | null = item.end) => items.set(e.approval_id, { ...item, r: { ...item.r, ...change }, end })
  const ended = (state: Request['state'], more: Partial<End> = {}) => {
    const end = { state, by: [], source: '', note: '', at: e.created_at, mine: false, ...more }
    become({ state }, item.end ? { ...end, mine: item.end.mine } : end)
  }
  switch (e.type) {
    case 'approval.resolved':
      return ended(e.payload.effect === 'allow' ? 'allowed' : 'denied', {
        by: (e.payload.by as Actor[] | null) ?? [], source: String(e.payload.source), note: String(e.payload.note ?? ''),
      })
    case 'approval.expired':
      return ended('expired')
    case 'approval.withdrawn':
      return ended('withdrawn', { note: String(e.payload.reason ?? '') })
    case 'approval.parked':
      return become({ state: 'parked' })
    case 'approval.taken':
      return become({ state: 'open' })
    case 'approval.answered':
      if (e.payload.effect === 'allow') items.set(e.approval_id, { ...item, yes: [...item.yes, e.actor] })
  }
}
