// Several requests answered together: which are chosen, what of each was shown,
// and what became of each answer. Every member has an answer of its own, about
// its own digest and content; nobody joins once they are on the screen.
import { api, Refused, type Answer, type Content, type Decision, type Request } from './api'
import { guard } from './guard.svelte'
import { inbox, type End } from './inbox.svelte'
import { count, endings, who } from './words'

// most is how many are answered together: more nobody looks at.
export const most = 50

// Member is a request of the batch. Its place in the order of answering is that
// of the queue.
export type Member = {
  id: string
  request: Request
  content: Content | null
  failed: string // why it cannot be shown
  told: string // what became of its answer
  stands: boolean // its answer does
  left: boolean // it was left out
}

const ranks = ['safe', 'moderate', 'destructive']
const rank = (r: Request) => (r.danger.length > 0 ? 9 : ranks.indexOf(r.risk))

class Batch {
  members = $state.raw<Member[]>([])
  sending = $state(false)
  note = $state('')
  told = $state('')
  #chosen = $state.raw<ReadonlySet<string>>(new Set())
  #run: AbortController | null = null

  // chosen are those of the chosen ones that still wait.
  chosen = $derived([...this.#chosen].filter((id) => waits(id)))
  // waiting are the members that an answer is for.
  waiting = $derived(this.members.filter((m) => !m.left && !m.told && waits(m.id)))
  dangerous = $derived(this.waiting.filter((m) => m.request.danger.length > 0))
  riskiest = $derived(this.waiting.reduce<Request | null>((most, m) => (!most || rank(m.request) > rank(most) ? m.request : most), null))

  get open(): boolean {
    return this.members.length > 0
  }

  has(id: string): boolean {
    return this.#chosen.has(id)
  }

  // choose takes requests in, or lets them go.
  choose(ids: string[], yes: boolean) {
    const now = new Set(this.chosen)
    for (const id of ids) if (!yes) now.delete(id); else if (waits(id)) now.add(id)
    this.#chosen = now
  }

  clear() {
    this.#chosen = new Set()
  }

  // show puts the chosen ones on the screen, in this order, and reads all of each.
  async show(order: string[]) {
    const ids = order.filter((id) => this.has(id) && waits(id))
    if (ids.length === 0 || ids.length > most) return
    this.members = ids.map((id) => ({ id, request: inbox.items.get(id)!.r, content: null, failed: '', told: '', stands: false, left: false }))
    ;[this.note, this.told] = ['', '']
    inbox.pin(ids)
    await this.#read(ids)
  }

  // again reads all of it anew: the server may have been another meanwhile.
  async again() {
    if (this.open && !this.sending) await this.#read(this.waiting.map((m) => m.id))
  }

  close() {
    if (!this.open || this.sending) return
    this.#run?.abort()
    this.members = []
    inbox.pin([])
    guard.changed()
  }

  leave(ids: string[], out: boolean) {
    for (const id of ids) this.#set(id, { left: out })
    guard.changed()
  }

  // may reports whether the batch takes an answer now, and this event is one.
  may(e: globalThis.Event): boolean {
    return this.answerable && guard.takes(e)
  }

  get answerable(): boolean {
    return this.waiting.length > 0 && !this.sending && inbox.connection === 'live' && this.waiting.every((m) => m.content)
  }

  async answer(effect: 'allow' | 'deny') {
    if (!this.answerable) return
    ;[this.sending, this.told] = [true, '']
    const note = this.note.trim()
    const more = effect === 'allow' ? { effect, scope: 'once' as const } : { effect, ...(note ? { note } : {}) }
    let goOn = true
    for (const members of together(this.waiting)) goOn = goOn && (await this.#send(members, more))
    this.sending = false
    this.clear()
    guard.changed()
  }

  // send gives each of the members its answer, and reports whether to go on.
  async #send(members: Member[], more: Pick<Answer, 'effect'> & Partial<Answer>): Promise<boolean> {
    const [first] = members
    try {
      if (members.length === 1) {
        const r = first!.request
        this.#done(first!.id, await api.answer(r.id, { digest: r.digest, content: r.content, ...more }))
        return true
      }
      const named = members.map(({ request: r }) => ({ id: r.id, digest: r.digest, content: r.content }))
      const { results } = await api.answerGroup(first!.request.group_id!, { members: named, ...more })
      for (const { id, decision, error } of results) {
        if (decision) this.#done(id, decision)
        else if (error) this.#refused([id], new Refused(error))
      }
      return true
    } catch (e) {
      return this.#refused(members.map((m) => m.id), e)
    }
  }

  #done(id: string, d: Decision) {
    if (d.state === 'open' || d.state === 'parked') {
      this.#set(id, { told: 'Your yes is recorded; it takes more people.', stands: true })
      return
    }
    this.#set(id, { told: `${endings[d.state] ?? d.state} by you.`, stands: true })
    inbox.close(id, endBy(d, true))
  }

  #refused(ids: string[], e: unknown): boolean {
    const all = (told: string) => ids.forEach((id) => this.#set(id, { told }))
    if (!(e instanceof Refused)) {
      all('The connection broke: whether this answer arrived shows when it is back. Nothing is sent again by itself.')
      this.told = 'The connection broke. What was not answered by then was not sent.'
      return false
    }
    const d = e.problem.decision
    switch (e.code) {
      case 'decided':
        all(`${who(d?.by, d?.source ?? 'Somebody')} was first: ${d ? (endings[d.state] ?? d.state).toLowerCase() : 'decided'}.`)
        if (d) for (const id of ids) inbox.close(id, endBy(d, false))
        return true
      case 'content-wanted':
      case 'mismatch':
        this.told = 'Not all were answered: the server wants you to see some once more. Look again, then answer.'
        void this.#read(ids)
        return true
      case 'unauthenticated':
        inbox.signOut()
        return false
      default:
        all(`Not answered: ${e.message}.`)
        return true
    }
  }

  // read reads all that there is of these, four at a time.
  async #read(ids: string[]) {
    const run = (this.#run = new AbortController())
    guard.gone()
    for (const id of ids) this.#set(id, { content: null, failed: '' })
    const rest = [...ids]
    const hand = async () => {
      for (let id = rest.shift(); id && !run.signal.aborted; id = rest.shift()) await this.#readOne(id, run.signal)
    }
    await Promise.all([hand(), hand(), hand(), hand()])
    if (!run.signal.aborted) guard.changed()
  }

  async #readOne(id: string, signal: AbortSignal) {
    try {
      const request = await api.request(id, signal)
      this.#set(id, { request, content: await api.content(id, signal) })
    } catch (e) {
      if (!signal.aborted) this.#set(id, { failed: e instanceof Refused ? e.message : 'the server does not answer' })
    }
  }

  #set(id: string, change: Partial<Member>) {
    this.members = this.members.map((m) => (m.id === id ? { ...m, ...change } : m))
  }

  // summary is what became of all of them.
  get summary(): string {
    const answered = this.members.filter((m) => m.told)
    const others = answered.filter((m) => !m.stands).length
    if (answered.length === 0) return ''
    return others === 0 ? `Answered: ${count(answered.length, 'request')}.` : `Answered: ${answered.length - others} of ${answered.length}. Why the others were not is said with each.`
  }
}

function waits(id: string): boolean {
  const item = inbox.items.get(id)
  return !!item && !item.end && !item.r.unread
}

const endBy = (d: Decision, mine: boolean): End => ({ state: d.state, by: d.by, source: d.source ?? '', note: d.note ?? '', at: d.at ?? '', mine })

// together are the members that one message may answer: those of a group.
function together(members: Member[]): Member[][] {
  const groups = new Map<string, Member[]>()
  for (const m of members) {
    const key = m.request.group_id ? `g${m.request.group_id}` : m.id
    groups.set(key, [...(groups.get(key) ?? []), m])
  }
  return [...groups.values()]
}

export const batch = new Batch()
