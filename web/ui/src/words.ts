// What things are called on the page.
import type { Actor, CoverOffer, Request } from './api'
import { write } from './json'

// risks are what the risk of a call means. The policy calls it destructive when no
// table knows what a command does, and when one knows that it does harm: that is
// danger here.
export const risks: Record<string, string> = { safe: 'safe', moderate: 'moderate', destructive: 'may do anything', unread: 'cannot be read' }

// riskOf is the risk of a request. Of one that cannot be read none is known.
export const riskOf = (r: Request) => (r.unread ? 'unread' : r.risk)

export const dangers: Record<string, string> = {
  outside_workspace: 'writes outside the workspace',
  delete: 'deletes',
  network_write: 'sends to another machine',
  privilege: 'becomes another user',
  dynamic: 'known only when it runs',
  interpreter: 'runs a program that is not shown here',
  rule: 'a rule calls it dangerous',
}

export const causes: Record<string, string> = {
  rule: 'a rule of the policy asks',
  default: 'no rule of yours decides it',
  'tool-required': 'the tool itself asks, and must be answered',
  'tool-optional': 'the tool itself asks',
  'not-understood': 'it could not be read to its end',
  session: 'the policy of this session asks',
  builtin: 'a built-in rule asks',
}

export const warnings: Record<string, string> = {
  control: 'control characters, shown spelled out',
  bidi: 'characters that reverse the direction of text, shown spelled out',
  invisible: 'invisible characters, shown spelled out',
  confusable: 'letters that look like others',
  whitespace: 'unusual blanks',
  padding: 'padding that pushes text out of sight, shown shortened',
  truncated: 'too long to be shown whole here',
  markup: 'markup in words',
  folded: 'long: its middle is shown when you ask for it',
}

// most is how much of a text is shown at once. Of a longer one the middle is folded.
export const most = 4000

// folded are the warnings about a call of which all is at hand: what is only long
// is named where its middle is folded.
export const folded = (r: Request, args: unknown) => r.warnings.flatMap((w) => {
  if (w.kind !== 'truncated' || !w.path.startsWith('/')) return [w]
  const value = w.path.slice(1).split('/').reduce((v, name) => (v as Record<string, unknown> | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], args)
  return typeof value === 'string' && value.length <= most ? [] : [{ ...w, kind: 'folded', text: '' }]
})

// states are a mark, for whoever does not tell colours apart, and a word.
export const states: Record<string, [string, string]> = {
  open: ['○', 'open'], parked: ['◌', 'parked'], allowed: ['✓', 'allowed'], denied: ['✕', 'denied'], expired: ['⌛', 'expired'], withdrawn: ['↩', 'withdrawn'],
}

export const sources: Record<string, string> = {
  person: 'a person', policy: 'the policy', grant: 'a remembered answer', mode: 'the mode', deadline: 'nobody in time',
}

export const modes: Record<string, string> = {
  interactive: 'People are asked.',
  approve_all: 'Whatever would be asked is allowed.',
  strict: 'Whatever would be asked is denied.',
}

// switches are what holds for everybody beside the rules, and that it does no more.
export const switches = {
  off: 'sayso is off: calls go to the agents’ own prompts.', on: 'sayso is on: calls are gated again.',
  locked: 'Locked: everything is asked or denied, and no grant counts.', released: 'The lock is released.',
}

// endings are how requests end.
export const endings: Record<string, string> = { allowed: 'Allowed', denied: 'Denied', expired: 'Expired', withdrawn: 'Withdrawn' }

export const kinds: Record<string, string> = {
  shell: 'Run a command', read: 'Read a file', write: 'Write a file', edit: 'Change a file', delete: 'Delete a file',
  list: 'List a folder', fetch: 'Fetch an address', search: 'Search', delegate: 'Start another agent', mcp: 'Use a server’s tool', other: 'Use a tool',
}

export const reasons = ['Not now', 'Too broad: do less', 'Use another way', 'Ask me first what I want']

// main are the arguments that say most about a call, the best first.
const main = ['command', 'file_path', 'path', 'url', 'query', 'pattern', 'description', 'prompt']

const head = /^\s*\*\*\* (Add|Update|Delete|Move) (?:File|to): *(\S.*)$/gm

// patched says what a patch does with which files; it begins alike for all.
const patched = (text: unknown) =>
  typeof text === 'string' && text.includes('*** Begin Patch')
    ? [...text.matchAll(head)].map((m) => `${m[1]!.toLowerCase()}${m[1] === 'Move' ? ' to' : ''} ${m[2]!.trim()}`).join(', ')
    : ''

// summary is a call on one line. What lies in the folder where it would run is
// named from there.
export function summary(r: Request): string {
  if (r.unread) return r.unread
  const args = r.preview as Record<string, unknown>
  const files = r.server || r.kind !== 'edit' ? '' : Object.values(args).map(patched).join('')
  if (files) return files
  for (const name of r.server ? [] : main) {
    const value = args[name]
    if (typeof value !== 'string' || value === '') continue
    const line = value.replaceAll(/\s+/g, ' ')
    return name.endsWith('path') && r.cwd && line.startsWith(`${r.cwd}/`) ? line.slice(r.cwd.length + 1) : line
  }
  const weight = (name: string) => (main.indexOf(name) + 1 || main.length + 1)
  const all = Object.entries(args).sort(([a], [b]) => weight(a) - weight(b)).map(([name, value]) => `${name}: ${typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : write(value)}`)
  return all.join('  ') || r.description || r.host_tool || r.tool
}

export const toolName = (r: Request) => (r.server ? `${r.server} › ${r.tool}` : r.tool)

// project is the last folder of where the call would run.
export const project = (r: Request) => r.cwd.split('/').filter(Boolean).at(-1) ?? ''

// byClient is said of an answer that came by way of the client that asked.
export const byClient = 'by way of the client that asked: a program may have answered'

export const throughClient = (by: Actor[] | undefined) => by?.some((a) => a.channel === 'elicitation') ?? false

export const who = (by: Actor[] | undefined, otherwise: string) =>
  (by?.map((a) => a.principal).join(', ') || otherwise) + (throughClient(by) ? ` (${byClient})` : '')

// left is a time that is left, short.
export function left(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000))
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, '0')}`
  return `${Math.floor(s / 86_400)} d`
}

export function age(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000))
  if (s < 5) return 'just now'
  if (s < 60) return `${s} s ago`
  if (s < 3600) return `${Math.floor(s / 60)} min ago`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`
  return `${Math.floor(s / 86_400)} d ago`
}

// lasted is a time that passed.
export const lasted = (ms: number): string => (ms < 1000 ? 'at once' : ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s` : left(ms))

// when is a time of the day, with the day where it is another.
export function when(at: string, now: number): string {
  const t = new Date(at)
  const time = t.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  return t.toDateString() === new Date(now).toDateString() ? time : `${t.toLocaleDateString([], { year: 'numeric', month: 'short', day: 'numeric' })} ${time}`
}

export const clock = (at: string) => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

const number = new Intl.NumberFormat('en')

export const count = (n: number, what: string) => `${number.format(n)} ${what}${n === 1 ? '' : 's'}`

// weight says what a cover would have covered, empty where nothing was counted.
export function weight(o: CoverOffer): string {
  if (!o.looked_at) return ''
  const denied = o.denied > 0 ? `, of which ${o.denied} were denied` : ''
  return `would have covered ${o.would_have_covered} of the last ${count(o.looked_at, 'call')}${denied}`
}
