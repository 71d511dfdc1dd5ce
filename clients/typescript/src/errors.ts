// The ways to not get a yes.

import type { components } from './schema.js'

export type Decision = components['schemas']['Decision']
export type Problem = components['schemas']['Problem']

// NotAllowed says that a call may not run. Its message is what an agent should be
// told; code is the stable name of the reason, text the short form of it, ticket
// the request that it is about ("" for none), decision the one that stands.
export class NotAllowed extends Error {
  readonly code: string = 'unavailable'
  readonly text: string
  readonly ticket: string
  readonly decision: Decision | undefined

  constructor(text = '', ticket = '', decision?: Decision) {
    super()
    this.text = text
    this.decision = decision
    this.ticket = ticket || decision?.id || ''
  }

  override get name(): string {
    return this.constructor.name
  }

  override get message(): string {
    return told(this)
  }
}

// Denied: policy, a person, the mode or the deadline said no. note is theirs.
export class Denied extends NotAllowed {
  override readonly code = 'denied'
  get note(): string {
    return this.decision?.note ?? ''
  }
}

// Pending: nobody has decided yet. The request waits under its ticket until the
// deadline (null for ever); the same call asked again takes it up. stop says to
// stop and report instead.
export class Pending extends NotAllowed {
  override readonly code = 'pending'
  deadline: string | null = null
  stop = false
}

export class Expired extends NotAllowed {
  override readonly code = 'expired'
}
export class Withdrawn extends NotAllowed {
  override readonly code = 'withdrawn'
}
// Spent: the approval was for one run and has been used.
export class Spent extends NotAllowed {
  override readonly code = 'spent'
}
// Voided: the approval lapsed, or what it was given for has changed.
export class Voided extends NotAllowed {
  override readonly code = 'voided'
}
// Mismatch: the approval, or the answer, is about something else.
export class Mismatch extends NotAllowed {
  override readonly code = 'mismatch'
}
// Conflict: the call id was used for another call, or a short id means several.
export class Conflict extends NotAllowed {
  override readonly code = 'conflict'
}
// Decided: another decision stands.
export class Decided extends NotAllowed {
  override readonly code = 'decided'
}
export class TooMany extends NotAllowed {
  override readonly code = 'too-many'
}
// Invalid: what was given is not what it must be. Nothing was asked.
export class Invalid extends NotAllowed {
  override readonly code = 'invalid'
}
export class NotFound extends NotAllowed {
  override readonly code = 'not-found'
}
// NoRight: whose token it is may not do this, or there is no valid token.
export class NoRight extends NotAllowed {
  override readonly code = 'not-allowed'
}
export class PresentationWanted extends NotAllowed {
  override readonly code = 'presentation-wanted'
}
// CouldNotFindOut: no answer, or none that can be believed.
export class CouldNotFindOut extends NotAllowed {}
// Cancelled: the wait was given up. The request stays open.
export class Cancelled extends CouldNotFindOut {}
// Unreachable: the connection broke before there was an answer. refused says that
// there was nobody to connect to.
export class Unreachable extends CouldNotFindOut {
  refused = false
}

type Kind = new (text?: string, ticket?: string, decision?: Decision) => NotAllowed

const kinds: Record<string, Kind> = {
  pending: Pending, expired: Expired, withdrawn: Withdrawn, spent: Spent, voided: Voided, mismatch: Mismatch, conflict: Conflict,
  decided: Decided, 'too-many': TooMany, invalid: Invalid, malformed: Invalid, 'too-large': Invalid, 'not-json': Invalid,
  'method-not-allowed': Invalid, 'not-found': NotFound, 'not-allowed': NoRight, unauthenticated: NoRight, forbidden: NoRight,
  'content-wanted': NoRight, 'presentation-wanted': PresentationWanted,
}

// problem is the error for a problem of the API; hidden makes its text safe. A
// code that nobody knows is CouldNotFindOut.
export function problem(p: unknown, decision: Decision | undefined, hidden: (text: string) => string): NotAllowed {
  const { code, title, detail, ticket = '', deadline, stop } = (p ?? {}) as Record<string, unknown>
  if (typeof code !== 'string') return new CouldNotFindOut('the answer is no problem that is known')
  if (typeof ticket !== 'string' || (ticket !== '' && !/^[0-9a-hjkmnp-tv-z]{36}$/.test(ticket))) {
    return new CouldNotFindOut('the answer names no ticket')
  }
  const kind = Object.hasOwn(kinds, code) ? (kinds[code] ?? CouldNotFindOut) : CouldNotFindOut
  if ((kind === Pending || kind === PresentationWanted) && ticket === '') return new CouldNotFindOut('the answer names no ticket')
  let text = [detail, title, code].find((t): t is string => typeof t === 'string' && t !== '') ?? ''
  if (kind === Decided && decision) text = `already decided: ${decision.state} by ${who(decision)} at ${(decision.at ?? '').replace(/\.\d+/, '')}`
  const no = new kind(hidden(text), ticket, decision)
  if (no instanceof Pending) {
    no.deadline = typeof deadline === 'string' ? deadline : null
    no.stop = stop === true
  }
  return no
}

// who names the people who decided, or what did.
export function who(d: Decision): string {
  return d.by.map((a) => a.principal).join(', ') || d.source || ''
}

const short = (id: string): string => (id.length === 36 ? id.slice(10, 14) : id)

// told is what an agent should be told: what happened, and what to do now.
function told(no: NotAllowed): string {
  const ticket = no.ticket ? ` (ticket ${short(no.ticket)})` : ''
  if (no instanceof Denied) return toldDenied(no.decision, ticket)
  if (no instanceof Pending) {
    const id = short(no.ticket)
    if (no.stop) return `Not decided yet, ticket ${id}. Stop and report; do not ask again.`
    return (
      `Not decided yet, ticket ${id}: a person has not answered. This is not a refusal and nothing ran. ` +
      `Make exactly the same call again to go on waiting, or stop and report that \`sayso approve ${id}\` is needed.`
    )
  }
  const text = no.text || no.code
  switch (no.code) {
    case 'expired':
      return `Expired${ticket}: nobody answered before the deadline. This is not a refusal. Ask again only if the call is still needed, or stop and report.`
    case 'withdrawn':
      return `Withdrawn${ticket}: the request was taken back before anybody answered. Nothing ran. Make the call again only if it is still needed.`
    case 'too-many':
      return 'Too many open requests: this session has more calls waiting than it may have. Nothing was asked. Stop and report; do not ask again until the waiting ones are answered.'
    case 'spent':
      return `Already used${ticket}: this approval was for one run and has been used. Make a new call.`
    case 'voided':
      return `No longer valid${ticket}: the approval lapsed, or what it was given for has changed. Make the call again to ask anew.`
    case 'conflict':
      return 'Refused: this call id was used before for another call. Make a new call.'
    case 'invalid':
      return `Refused: the call could not be read strictly (${text}). Nothing was asked and nothing ran.`
  }
  return `Could not find out whether this call may run (${text}), so it does not. Stop and report this to the user: \`sayso status\` says what is wrong.`
}

function toldDenied(d: Decision | undefined, ticket: string): string {
  switch (d?.source) {
    case undefined:
      break
    case 'person':
      return d.note ? `Denied by ${who(d)}${ticket}: ${d.note}` : `Denied by ${who(d)}${ticket}. Do not repeat the call; do it another way, or stop and ask.`
    case 'mode':
      return `Denied by the ${d.mode} mode${ticket}: this call would have to be asked about, and nobody is asked in this mode. Do it another way, or stop and report.`
    case 'deadline':
      return `Denied by the deadline${ticket}: nobody answered in time, and the policy says that this is a denial. Do it another way, or stop and report.`
  }
  return `Denied by policy${ticket}: ${d ? because(d) : 'no rule allows it'}. Do not repeat the call; do it another way, or stop and report.`
}

// because is the reason, the rule and where it stands.
function because(d: Decision): string {
  const parts = [d.reason?.replace(/\.$/, ''), d.rule && `rule ${JSON.stringify(d.rule)}`, d.file && `${d.file}:${d.line ?? 0}`]
  return parts.filter(Boolean).join(', ') || 'no rule allows it'
}
