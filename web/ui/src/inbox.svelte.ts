// What this page knows: a fold over the log, as far as it concerns open
// requests. Nothing here answers anything.
import { api, follow, Refused, skew, token, type Actor, type Event, type Mode, type Request, type Status } from './api'
import { Groups } from './order'
import { count, modes, riskOf, risks, switches } from './words'

// End is how a request ended.
export type End = { state: Request['state']; by: Actor[]; source: string; note: string; at: string; mine: boolean }

// Item is a request with what the queue wants of it: when it must be answered,
// and with which others it stands.
export type Item = { r: Request; end: End | null; yes: Actor[]; due: number; group: string; words?: string }

const itemOf = (r: Request, end: End | null = null): Item => ({
  r, end, yes: [], due: r.deadline ? Date.parse(r.deadline) : Number.MAX_SAFE_INTEGER, group: JSON.stringify([r.session_id, r.host, r.caller]),
})

// Gap is what is known so far of the time in which the line was cut, and until
// where in the log it lasts.
type Gap = { until: number | null; came: Map<string, Item>; ended: Item[]; over: number }

// Away is what happened while the line was cut, once all of it is known: the
// first of what ended, and how many more did.
export type Away = { came: Item[]; ended: Item[]; over: number }

// most is how many of those that ended are listed.
const most = 20

export type Connection = 'connecting' | 'live' | 'lost' | 'out'

const open = (state: string) => state === 'open' || state === 'parked'

class Inbox {
  connection = $state<Connection>('connecting')
  // onScreen is the request that is looked at. It stays until another is chosen.
  onScreen = $state<string | null>(null)
  mode = $state.raw<Mode | null>(null)
  // modeEnds is when the mode ends, null for never.
  modeEnds = $state<number | null>(null)
  // off says until when calls are not gated, and locked that no grant counts.
  off = $state.raw<Status['off']>()
  locked = $state(false)
  // said is what is read out, and away what happened while the line was cut.
  said = $state('')
  away = $state.raw<Away | null>(null)
  // came is what came in last.
  came = $state.raw<Item[]>([])
  now = $state(Date.now() + skew)

  // What is known is kept in place, and counts how often it changed: thousands
  // are not copied for each of them.
  #items = new Map<string, Item>()
  #groups = new Groups()
  #ended = new Set<string>()
  #pinned = new Set<string>()
  #changes = $state(0)
  // still says that nothing may leave the list: somebody points at it.
  #still = false
  // seq is how far the log is read, and hash that of the event there, where known.
  #seq = 0
  #hash = ''
  #run: AbortController | null = null
  #waiting: Event[] = []
  #timer = 0
  #gap: Gap | null = null

  #listeners = new Set<(events: Event[]) => void>()

  // hear hands all events to f from now on, until what it returns is called.
  hear(f: (events: Event[]) => void): () => void {
    this.#listeners.add(f)
    return () => this.#listeners.delete(f)
  }

  get items(): ReadonlyMap<string, Item> {
    void this.#changes
    return this.#items
  }

  // groups are all requests in the order of the queue.
  groups = $derived.by(() => {
    void this.#changes
    return this.#groups.list()
  })

  // waiting is how many requests wait for an answer.
  get waiting(): number {
    return this.items.size - this.#ended.size
  }

  // twins is how many others wait that are exactly this call.
  twins(r: Request): number {
    return this.groups.filter((g) => g.session === r.session_id).flatMap((g) => g.items)
      .filter((i) => i.r.digest === r.digest && i.r.id !== r.id && !i.end).length
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
    this.#fill([])
    ;[this.onScreen, this.away, this.#gap] = [null, null, null]
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

  // close marks a request as ended. The log may have said so before, but not that
  // it was an answer of this page.
  close(id: string, end: End) {
    const item = this.#items.get(id)
    if (item?.end && end.mine) this.#put({ ...item, end: { ...item.end, mine: true } })
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

  #fill(requests: Request[]) {
    ;[this.#items, this.#groups, this.#ended] = [new Map(), new Groups(), new Set()]
    for (const r of requests) this.#set(itemOf(r))
    this.#changes++
  }

  #put(item: Item) {
    this.#set(item)
    this.#changes++
  }

  #set(item: Item) {
    this.#items.set(item.r.id, item)
    this.#groups.put(item)
    if (!open(item.r.state)) this.#ended.add(item.r.id)
  }

  // pin keeps these, in the place of those that were kept before.
  pin(ids: string[]) {
    this.#pinned = new Set(ids)
    this.#sweep()
  }

  // sweep lets go of what ended and is not on the screen.
  #sweep() {
    if (this.#still) return
    for (const id of this.#ended) {
      if (id === this.onScreen || this.#pinned.has(id)) continue
      this.#groups.drop(this.#items.get(id)!)
      this.#items.delete(id)
      this.#ended.delete(id)
      this.#changes++
    }
  }

  // stay follows the log for as long as the page is there. After a break it goes
  // on from the last event that it has.
  async #stay(signal: AbortSignal) {
    for (let wait = 250; !signal.aborted; wait = Math.min(wait * 2, 4000)) {
      try {
        if (this.#seq > 0) await this.#compare()
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
    ;[this.#seq, this.#hash] = [head, '']
    this.#fill(requests)
    void this.askMode()
  }

  // compare finds out whether the log is still the one that was read: a backup
  // that was restored goes back.
  async #compare() {
    const { seq, hash } = await api.head()
    if (seq < this.#seq || (seq === this.#seq && this.#hash !== '' && hash !== this.#hash)) this.#forget()
  }

  // forget has all read anew.
  #forget() {
    clearTimeout(this.#timer)
    ;[this.#seq, this.#timer, this.#waiting, this.#gap, this.away] = [0, 0, [], null, null]
  }

  // modeTurned asks now and twice more: a switch is recorded just before it is
  // turned.
  #modeTurned() {
    for (const ms of [0, 200, 1500]) setTimeout(() => void this.askMode(), ms)
  }

  async askMode() {
    try {
      const [mode, status] = await Promise.all([api.mode(), api.status()])
      if (this.mode) {
        if (status.off ? !this.off : this.off) this.#say(status.off ? switches.off : switches.on)
        if (status.locked !== this.locked) this.#say(status.locked ? switches.locked : switches.released)
        if (mode.mode !== this.mode.mode) this.#say(modes[mode.mode] ?? mode.mode)
      }
      ;[this.off, this.locked] = [status.off, status.locked]
      this.mode = mode
      this.modeEnds = mode.left_s === null ? null : Date.now() + skew + mode.left_s * 1000
    } catch {
      // the connection tells of its own loss
    }
  }

  #lose() {
    if (this.connection === 'live') this.#gap ??= { until: null, came: new Map(this.away?.came.filter((i) => this.#items.has(i.r.id)).map((i) => [i.r.id, i])), ended: this.away?.ended ?? [], over: this.away?.over ?? 0 }
    this.connection = 'lost'
  }

  // back asks how far the log has come meanwhile: until it is read that far, what
  // comes happened while the line was cut.
  #back() {
    this.connection = 'live'
    const gap = this.#gap
    if (!gap) return
    void this.askMode()
    const until = (seq: number) => {
      gap.until = seq
      this.#mend()
    }
    api.head().then((head) => until(head.seq), () => until(this.#seq))
  }

  // mend says what happened while the line was cut, once all of it is known.
  #mend() {
    const gap = this.#gap
    if (!gap || gap.until === null || this.#seq < gap.until) return
    this.#gap = null
    const came = [...gap.came.values()]
    this.away = { came, ended: gap.ended, over: gap.over }
    this.#say(wasAway(this.away))
    if (came.length > 0) this.came = came
  }

  // take takes events in small batches: a call that policy decides is asked for
  // and decided in one breath, and never shows. A page that nobody looks at has
  // slow timers, and must not be late with its notices.
  #take(events: Event[]) {
    this.#waiting.push(...events)
    if (document.hidden) this.#fold()
    else if (this.#timer === 0) this.#timer = window.setTimeout(() => this.#fold(), 40)
  }

  #fold() {
    clearTimeout(this.#timer)
    const events = this.#waiting
    ;[this.#timer, this.#waiting] = [0, []]
    if (events.length === 0) return
    // A log that went back and has grown beyond what was read of it.
    const first = events[0]!
    if (first.seq === this.#seq + 1 && this.#hash !== '' && first.prev !== this.#hash) {
      this.#forget()
      return this.start()
    }
    const came = new Map<string, Item>()
    const ended: Item[] = []
    for (const e of events) {
      ;[this.#seq, this.#hash] = [e.seq, e.hash]
      if (e.type === 'mode.changed') this.#modeTurned()
      const was = this.#items.get(e.approval_id)
      const is = apply(was, e)
      if (!is) continue
      this.#set(is)
      if (open(is.r.state)) {
        if (!was || came.has(is.r.id)) came.set(is.r.id, is)
      } else if (!came.delete(is.r.id) && was && !was.end) ended.push(is)
    }
    this.#changes++
    this.#sweep()
    if (this.#gap) this.#missed(this.#gap, came, ended)
    else this.#tell([...came.values()])
    for (const f of this.#listeners) f(events)
  }

  #missed(gap: Gap, came: Map<string, Item>, ended: Item[]) {
    for (const [id, item] of came) gap.came.set(id, item)
    const all = [...gap.ended, ...ended.filter((i) => !gap.came.delete(i.r.id))]
    ;[gap.ended, gap.over] = [all.slice(0, most), gap.over + Math.max(0, all.length - most)]
    this.#mend()
  }

  // say has something read out. The same words a second time are heard only if the
  // text is another one.
  #say(text: string) {
    this.said = text === this.said ? `${text}\u00a0` : text
  }

  // tell says what came in.
  #tell(came: Item[]) {
    const first = came[0]
    if (!first) return
    this.#say(came.length === 1 ? heading(first.r) : `${came.length} new requests. ${this.waiting} wait.`)
    this.came = came
  }
}

export const inbox = new Inbox()

export const heading = (r: Request) =>
  `New request: ${r.tool}, ${r.danger.length > 0 ? 'dangerous' : risks[riskOf(r)]}, from ${r.caller || r.host || 'an agent'}.`

// endOf is how a request that was read ended; null for one that is open.
export function endOf(r: Request): End | null {
  if (open(r.state)) return null
  const d = r.decision
  return { state: r.state, by: d?.by ?? [], source: d?.source ?? '', note: d?.note ?? '', at: d?.at ?? r.created_at, mine: false }
}

// wasAway says what happened while the line was cut.
export function wasAway(a: Away): string {
  const ended = a.ended.length + a.over
  if (a.came.length + ended === 0) return 'Connected again. Nothing changed meanwhile.'
  return `Connected again. Meanwhile ${count(a.came.length, 'request')} came in and ${ended} ended.`
}

// apply is what an event makes of a request; nothing where it is not about one
// that is known.
function apply(item: Item | undefined, e: Event): Item | undefined {
  if (e.type === 'approval.requested') return item ?? itemOf(e.payload as unknown as Request)
  if (!item) return
  const ended = (state: Request['state'], more: Partial<End> = {}) => {
    const end = { state, by: [], source: '', note: '', at: e.created_at, mine: item.end?.mine ?? false, ...more }
    return { ...item, r: { ...item.r, state }, end }
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
      return { ...item, r: { ...item.r, state: 'parked' } }
    case 'approval.taken':
      return { ...item, r: { ...item.r, state: 'open' } }
    case 'approval.answered':
      return e.payload.effect === 'allow' ? { ...item, yes: [...item.yes, e.actor] } : item
  }
  return item
}
