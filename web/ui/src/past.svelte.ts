// What was asked before: a list that is read page after page, stays true while
// the log grows, and never holds more than one looks through.
import { api, type Event, type Request } from './api'
import { wrong } from './reading.svelte'

// size is how many a page has, most how many are listed at a time, and hands how
// many that changed are read again at a time.
const size = 100
export const most = 300
const hands = 8

// telling are the events that change what the list says of a request.
const telling = new Set(['requested', 'parked', 'taken', 'resolved', 'expired', 'withdrawn'].map((what) => `approval.${what}`).concat('content.erased'))

export class Past {
  items = $state.raw<Request[]>([])
  // fresh are those that came while the list had to stand still, and behind says
  // that more came than are kept.
  fresh = $state.raw<Request[]>([])
  behind = $state(false)
  next = $state<number | null>(null)
  // from is where in the log the list begins; null for its end.
  from = $state<number | null>(null)
  reading = $state(false)
  read = $state(false)
  failed = $state('')
  full = $derived(this.items.length >= most && this.next !== null)

  // still says that nothing may move: somebody points at the list or is far down.
  still = false
  #query = new URLSearchParams()
  #run = new AbortController()
  #changed = new Set<string>()
  #asked = false
  #timer = 0

  // begin reads the list anew, of other requests or from another place. Those from
  // before stay until these are there.
  begin(query = this.#query, from: number | null = null) {
    this.stop()
    this.#run = new AbortController()
    this.#query = query
    ;[this.fresh, this.behind, this.next, this.from, this.read, this.reading] = [[], false, null, from, false, false]
    void this.more()
  }

  stop() {
    this.#run.abort()
    clearTimeout(this.#timer)
    this.#timer = 0
    this.#changed.clear()
  }

  // more reads what is older. A search looks through so much at a time, and may
  // have found nothing yet.
  async more() {
    if (this.reading || this.full || (this.read && this.next === null)) return
    const run = this.#run
    const before = this.next ?? this.from
    const limit = this.read ? Math.min(size, most - this.items.length) : size
    this.reading = true
    try {
      const page = await api.history(this.#with({ limit, ...(before ? { before } : {}) }), run.signal)
      if (run.signal.aborted) return
      ;[this.items, this.next, this.read, this.failed] = [this.read ? [...this.items, ...page.requests] : page.requests, page.next ?? null, true, '']
    } catch (e) {
      if (run.signal.aborted) return
      this.failed = wrong(e)
    }
    this.reading = false
  }

  // older lists those that come behind a full list, in its place.
  older() {
    this.begin(this.#query, this.next)
  }

  // hear takes events. What they are about is read again soon, all at once.
  hear(events: Event[]) {
    for (const e of events) {
      if (!e.approval_id || !telling.has(e.type)) continue
      this.#changed.add(e.approval_id)
      this.#asked ||= e.type === 'approval.requested'
    }
    this.#soon()
  }

  #soon() {
    if (this.#changed.size > 0 && this.#timer === 0) this.#timer = window.setTimeout(() => void this.#renew(), 400)
  }

  // show lets in what came meanwhile.
  show() {
    if (this.behind || this.items.length + this.fresh.length > most) return this.begin()
    ;[this.items, this.fresh] = [[...this.fresh, ...this.items], []]
  }

  // renew reads again what changed: the newest page where something was asked for,
  // and of the others a few. The rest has its turn the next time.
  async #renew() {
    const [changed, run] = [[...this.#changed], this.#run]
    const asked = this.#asked && this.read && this.from === null
    this.#changed.clear()
    this.#asked = false
    const known = new Set([...this.items, ...this.fresh].map((r) => r.id))
    try {
      const newest = asked ? (await api.history(this.#with({ limit: size }), run.signal)).requests : []
      const seen = new Set(newest.map((r) => r.id))
      const rest = changed.filter((id) => known.has(id) && !seen.has(id))
      const others = await Promise.all(rest.slice(0, hands).map((id) => api.request(id, run.signal)))
      if (run.signal.aborted) return
      for (const id of rest.slice(hands)) this.#changed.add(id)
      this.#merge(newest, others)
    } catch {
      // what is shown is a little old; the next event reads it again
    }
    if (run.signal.aborted) return
    this.#timer = 0
    this.#soon()
  }

  #merge(newest: Request[], others: Request[]) {
    const now = new Map([...newest, ...others].map((r) => [r.id, r]))
    const renewed = (list: Request[]) => list.map((r) => now.get(r.id) ?? r)
    const known = new Set([...this.items, ...this.fresh].map((r) => r.id))
    // The log's order counts, not the clock's: what is new stands before all that
    // is known.
    const first = newest.findIndex((r) => known.has(r.id))
    const came = first < 0 ? newest : newest.slice(0, first)
    ;[this.items, this.fresh] = [renewed(this.items), [...came, ...renewed(this.fresh)]]
    // A whole page of what is new has more behind it.
    if (this.fresh.length >= size) [this.fresh, this.behind] = [[], true]
    if (!this.still && (this.behind || this.fresh.length > 0)) this.show()
  }

  // all reads everything that matches, to its end, and hands it on as it comes.
  async all(take: (list: Request[]) => void, signal: AbortSignal) {
    for (let next: number | undefined; ; ) {
      const page = await api.history(this.#with({ limit: 1000, ...(next ? { before: next } : {}) }), signal)
      take(page.requests)
      if (!page.next) return
      next = page.next
    }
  }

  #with(more: Record<string, number>): URLSearchParams {
    const query = new URLSearchParams(this.#query)
    for (const [name, value] of Object.entries(more)) query.set(name, String(value))
    return query
  }
}
