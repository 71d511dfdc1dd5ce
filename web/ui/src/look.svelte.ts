// The request on the screen: all of it, and what becomes of an answer to it.
import { api, Refused, type Answer, type Content, type Request } from './api'
import { guard } from './guard.svelte'
import { endOf, inbox } from './inbox.svelte'
import { count, who } from './words'

class Look {
  request = $state.raw<Request | null>(null)
  content = $state.raw<Content | null>(null)
  // failed says why it cannot be shown, and told what became of an answer.
  failed = $state('')
  told = $state('')
  // remembered names what an answer covers from now on.
  remembered = $state('')
  sending = $state(false)
  panel = $state<'' | 'remember' | 'edit'>('')
  note = $state('')
  // drafts are arguments that somebody began to edit, of each request. They stay
  // when the editor is left, whatever it was left for.
  readonly drafts = new Map<string, string>()

  #run: AbortController | null = null

  // show reads a request and all of its content. Until both are there, and then
  // for a moment, it takes no answer.
  async show(id: string | null) {
    this.#run?.abort()
    ;[this.request, this.content, this.failed, this.told, this.remembered, this.panel, this.note] = [null, null, '', '', '', '', '']
    guard.gone()
    if (id) await this.#read(id)
  }

  signOut() {
    this.drafts.clear()
    void this.show(null)
  }

  // again reads it anew: the server may have been another meanwhile.
  async again() {
    const id = this.request?.id ?? inbox.onScreen
    if (!id) return
    guard.gone()
    await this.#read(id)
  }

  async #read(id: string) {
    const run = (this.#run = new AbortController())
    try {
      const request = await api.request(id, run.signal)
      const content = request.erased ? null : await api.content(id, run.signal)
      if (run.signal.aborted) return
      inbox.keep(request)
      const end = endOf(request)
      if (end) inbox.close(id, end)
      ;[this.request, this.content, this.failed] = [request, content, '']
      guard.changed()
    } catch (e) {
      if (run.signal.aborted) return
      this.failed = e instanceof Refused ? `This request cannot be shown: ${e.message}.` : 'It could not be read: the server does not answer.'
    }
  }

  // may reports whether the request on the screen takes an answer now, and this
  // event is one.
  may(e: globalThis.Event): boolean {
    return this.answerable && guard.takes(e)
  }

  get answerable(): boolean {
    const item = this.request && inbox.items.get(this.request.id)
    return !!item && !item.end && !!this.content && !this.sending && inbox.connection === 'live' && inbox.onScreen === item.r.id
  }

  async answer(more: Pick<Answer, 'effect'> & Partial<Answer>) {
    const r = this.request
    if (!r || !this.answerable) return
    this.sending = true
    this.told = ''
    try {
      const d = await api.answer(r.id, { digest: r.digest, content: r.content, ...more })
      if (d.state === 'open' || d.state === 'parked') this.told = `Your yes is recorded. It takes ${count(r.requirement.count, 'person')} in all.`
      else inbox.close(r.id, { state: d.state, by: d.by, source: d.source ?? 'person', note: d.note ?? '', at: d.at ?? new Date().toISOString(), mine: true })
      if (more.scope === 'session') this.remembered = r.covers.find((o) => o.cover === more.cover)?.label ?? ''
      this.panel = ''
      this.drafts.delete(r.id)
    } catch (e) {
      await this.#refused(r, e)
    }
    this.sending = false
  }

  // refused says what became of an answer that was not taken.
  async #refused(r: Request, e: unknown) {
    if (!(e instanceof Refused)) {
      this.told = 'The connection broke. Whether the answer arrived shows when it is back; nothing is sent again by itself.'
      return
    }
    const d = e.problem.decision
    switch (e.code) {
      case 'decided':
        this.told = `${who(d?.by, d?.source ?? 'Somebody')} was first: your answer was not taken, and is on the record.`
        if (d) inbox.close(r.id, { state: d.state, by: d.by, source: d.source ?? '', note: d.note ?? '', at: d.at ?? '', mine: false })
        return
      case 'content-wanted':
      case 'mismatch':
        await this.again()
        this.told = 'Not answered: the server wants you to see it once more. Look again, then answer.'
        return
      case 'unauthenticated':
        inbox.signOut()
        return
      default:
        this.told = `Not answered: ${e.message}.`
    }
  }
}

export const look = new Look()
