// The events of one request in words.
import type { Actor, Event } from './api'
import { byClient, causes, lasted, sources, throughClient } from './words'

export type Step = { mark: string; what: string; by: string; more: string[]; at: string; gap: string }

type Payload = Record<string, unknown>
const text = (p: Payload, name: string) => (typeof p[name] === 'string' ? (p[name] as string) : '')

// from is who did it and how it reached the log.
function from(a: Actor): string {
  if (a.kind === 'broker') return ''
  if (throughClient([a])) return `${a.principal} (${byClient})` // and nobody knows of which kind it was
  return `${a.principal} (${a.kind}${a.channel ? `, ${channels[a.channel] ?? a.channel}` : ''})`
}

const channels: Record<string, string> = { web: 'on the page', terminal: 'in a terminal', hook: 'by its hook', http: 'over HTTP', socket: 'over the socket', embedded: 'in the same program', mcp: 'by the gateway', driver: 'by what drives it', acp: 'by the relay to its editor' }
const parked: Record<string, string> = { patience: 'it had waited as long as it could', left: 'it went away', lost: 'the server or the hook that waited for the answer has ended' }

// refusals are why an answer was not taken.
const refusals: Record<string, string> = {
  decided: 'somebody was first', expired: 'the time was over', withdrawn: 'the agent had withdrawn it before',
  mismatch: 'it was about something else than what is asked here', requester: 'nobody answers their own request',
  'not-allowed': 'they may not answer this', 'agent-process': 'it came from a program that an agent started',
}

function rule(p: Payload): string {
  const file = text(p, 'file')
  const place = file ? ` (${file}${p.line ? `:${p.line}` : ''})` : ''
  return text(p, 'rule') ? `rule: ${text(p, 'rule')}${place}` : ''
}

function answer(p: Payload): string {
  if (p.effect !== 'allow') return 'Answered no'
  return p.scope === 'session' ? 'Answered yes, for the session' : 'Answered yes, once'
}

function finished(p: Payload): string[] {
  const status = typeof p.exit_status === 'number' ? `exit status ${p.exit_status}` : ''
  const took = typeof p.took_ns === 'number' ? `ran for ${p.took_ns < 1e9 ? 'less than 1 s' : lasted(p.took_ns / 1e6)}` : ''
  return [status, took, p.changed ? 'with other arguments than were allowed' : '']
}

// told is what an event says: a mark, a sentence and more. What policy decided
// at once was asked of nobody.
function told(e: Event, byRule: boolean): [mark: string, what: string, more: string[]] {
  const p = e.payload
  switch (e.type) {
    case 'approval.requested':
      return ['?', 'The agent asked', byRule ? [] : [causes[text(p, 'cause')] ?? text(p, 'cause'), rule(p)]]
    case 'approval.parked':
      return ['‖', 'The agent stopped waiting', [parked[text(p, 'cause')] ?? text(p, 'cause')]]
    case 'approval.taken':
      return ['▸', 'The agent asked again', []]
    case 'approval.answered':
      return [p.effect === 'allow' ? '✓' : '✕', answer(p), [text(p, 'note') && `“${text(p, 'note')}”`, text(p, 'cover') && `covers: ${text(p, 'cover')}`, p.args ? 'with changed arguments' : '']]
    case 'answer.refused':
      return ['!', p.effect === 'allow' ? 'A yes was not taken' : 'A no was not taken', [refusals[text(p, 'why')] ?? text(p, 'why')]]
    case 'approval.resolved':
      return [p.effect === 'allow' ? '✓' : '✕', p.effect === 'allow' ? 'Allowed' : 'Denied', [throughClient(p.by as Actor[] | undefined) ? byClient : `by ${sources[text(p, 'source')] ?? text(p, 'source')}`, text(p, 'source') === 'person' ? '' : rule(p), text(p, 'reason')]]
    case 'approval.expired':
      return ['⌛', 'Expired: nobody answered in time', []]
    case 'approval.withdrawn':
      return ['↩', 'Withdrawn by whoever asked', [text(p, 'reason')]]
    case 'approval.redeemed':
      return ['▶', 'Its approval was used: the call began', []]
    case 'approval.voided':
      return ['∅', 'Its approval became void', [text(p, 'reason')]]
    case 'approval.finished':
      return [p.failed || p.changed ? '✕' : '■', p.interrupt ? 'The call was interrupted' : p.failed ? 'The call failed' : 'The call finished', finished(p)]
    case 'content.erased':
      return ['∅', 'What was asked for was erased', [text(p, 'why')]]
  }
  return ['·', e.type, []]
}

// steps are the events with the times between them.
export function steps(events: Event[]): Step[] {
  const byRule = events.some((e) => e.type === 'approval.resolved' && e.payload.source === 'policy')
  return events.map((e, i) => {
    const [mark, what, more] = told(e, byRule)
    const before = events[i - 1]
    const gap = before ? lasted(Date.parse(e.created_at) - Date.parse(before.created_at)) : ''
    return { mark, what, by: from(e.actor), more: more.filter(Boolean), at: e.created_at, gap }
  })
}
