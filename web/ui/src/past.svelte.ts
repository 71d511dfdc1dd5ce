// What was asked before: a list that is read page after page, and stays true
// while the log grows.
import { api, type Event, type Request } from './api'
import { wrong } from './reading.svelte'

const size = 100

export class Past {
  items = $state.raw<Request[]>([])
  // fresh are those that came while the list had to stand still.
  fresh = $state.raw<Request[]>([])
  next = $state<number | null>(null)
  reading = $state(false)
  read = $state(false)
  failed = $state('')

  // still says that nothing may move: somebody points at the list or is far down.
  still = false
  #query = new URLSearchParams()
  #run = new AbortController()
  #changed = new Set<string>()
  #asked = false
  #timer = 0

  // begin reads the list anew, of other requests. Those from before stay until
  // these are there.
  begin(query: URLSearchParams) {
    this.stop()
    this.#run = new AbortController()
    this.#query = query
    ;[this.fresh, this.next, this.read, this.reading] = [[], null, false, false]
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
    if (this.reading || (this.read && this.next === null)) return
    const run = this.#run
    this.reading = true
    try {
      const page = await api.history(this.#with({ limit: size, ...(this.next ? { before: this.next } : {}) }), run.signal)
      if (run.signal.aborted) return
      ;[this.items, this.next, this.read, this.failed] = [this.read ? [...this.items, ...page.requests] : page.requests, page.next ?? null, true, '']
    } catch (e) {
      if (run.signal.aborted) return
      this.failed = wrong(e)
    }
    this.reading = false
  }

  // hear takes events. What they are about is read again soon, all at once.
  hear(events: Event[]) {
    for (const e of events) {
      if (!e.approval_id) continue
      this.#changed.add(e.approval_id)
      this.#asked ||= e.type === 'approval.requested'
    }
    if (this.#changed.size > 0 && this.#timer === 0) this.#timer = window.setTimeout(() => void this.#renew(), 400)
  }

  // show lets in what came meanwhile.
  show() {
    ;[this.items, this.fresh] = [[...this.fresh, ...this.items], []]
  }

  async #renew() {
    const [changed, asked, run] = [new Set(this.#changed), this.#asked, this.#run]
    this.#changed.clear()
    ;[this.#asked, this.#timer] = [false, 0]
    const known = new Set([...this.items, ...this.fresh].map((r) => r.id))
    try {
      const list = asked && this.read ? (await api.history(this.#with({ limit: size }), run.signal)).requests : []
      const seen = new Set(list.map((r) => r.id))
      const rest = [...changed].filter((id) => known.has(id) && !seen.has(id)).slice(0, size)
      list.push(...(await Promise.all(rest.map((id) => api.request(id, run.signal)))))
      if (!run.signal.aborted) this.#merge(list)
    } catch {
      // what is shown is a little old; the next event reads it again
    }
  }

  #merge(list: Request[]) {
    const now = new Map(list.map((r) => [r.id, r]))
    this.items = this.items.map((r) => now.get(r.id) ?? r)
    const known = new Set([...this.items, ...this.fresh].map((r) => r.id))
    const newest = this.items[0]?.created_at ?? ''
    this.fresh = [...list.filter((r) => !known.has(r.id) && r.created_at >= newest), ...this.fresh.map((r) => now.get(r.id) ?? r)]
    if (!this.still) this.show()
  }

  // all reads everything that is listed, to its end, and hands it on as it comes.
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
