// Calls, the digest that identifies one, and the decision about it.

import { CouldNotFindOut, Denied, Invalid, Mismatch, type Decision } from './errors.js'
import { canonical, Malformed, parse } from './json.js'
import type { components } from './schema.js'

export type Call = components['schemas']['Call']

const texts = ['tool', 'server', 'session', 'run', 'call_id', 'caller', 'group_id', 'definition_digest', 'cwd'] as const
const members = new Set<string>([...texts, 'kind', 'description', 'args', 'metadata', 'said', 'annotations', 'tags'])
const kinds = ['', 'shell', 'read', 'write', 'edit', 'delete', 'list', 'fetch', 'search', 'delegate', 'mcp', 'other']
const annotations = ['read_only', 'destructive', 'idempotent', 'open_world']
const own: Record<string, string> = {
  read_file: 'file-read', write_file: 'file-write', edit_file: 'file-edit', delete_file: 'file-delete', list_files: 'file-list',
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v)

// parseCall reads a call from JSON, strictly.
export function parseCall(text: string): Call {
  try {
    const read = parse(text, true)
    checkCall(read)
    return read
  } catch (e) {
    throw refused(e, 'call: ')
  }
}

// copied is a copy of a call that nobody changes while it waits.
export function copied(c: Call): Call {
  try {
    const copy = parse(canonical(c), true)
    checkCall(copy)
    return copy
  } catch (e) {
    throw refused(e, 'call: ')
  }
}

// refused is the error for what is no JSON.
export function refused(e: unknown, what = ''): unknown {
  return e instanceof Malformed ? new Invalid(what + e.message) : e
}

function checkCall(c: unknown): asserts c is Call {
  const no = (why: string): never => {
    throw new Invalid(`call: ${why}`)
  }
  if (!isObject(c)) return no('it is no object')
  if ('host' in c) no('host is for the hooks of agents; leave it out, and say who calls in caller')
  if (Object.keys(c).some((name) => !members.has(name))) no('a member that is not known')
  if (typeof c.tool !== 'string' || c.tool === '') no('tool is missing')
  if (!isObject(c.args)) no('args must be an object; a call without arguments has {}')
  if (!kinds.includes((c.kind ?? '') as string)) no(`kind is none of ${kinds.slice(1).join(', ')}`)
  if (!Object.entries(object(c.annotations)).every(([k, v]) => annotations.includes(k) && typeof v === 'boolean')) {
    no(`annotations are ${annotations.join(', ')}, each true or false`)
  }
  object(c.metadata)
  if (!Object.values(object(c.said)).every((v) => typeof v === 'string') || typeof (c.description ?? '') !== 'string') no('what was said is text')
  if (!Array.isArray(c.tags ?? []) || !((c.tags ?? []) as unknown[]).every((t) => typeof t === 'string')) no('tags are a list of texts')
  for (const name of texts) {
    const text = c[name] ?? ''
    if (typeof text !== 'string' || /[\u0000-\u001f\u007f]|\p{Surrogate}/u.test(text)) return no(`${name} is no text, or holds a control character`)
    if (new TextEncoder().encode(text).length > (name === 'cwd' ? 4096 : 256)) no(`${name} is too long`)
  }
  for (const v of Object.values(c)) if (v === null) no('a member is null')
}

function object(v: unknown): Record<string, unknown> {
  if (v === undefined) return {}
  if (!isObject(v)) throw new Invalid('call: a member is no object')
  return v
}

// digest identifies exactly this call: tool, server, arguments, directory,
// session and the tool's definition.
export async function digest(call: Call): Promise<string> {
  const c = copied(call)
  const [tool, server] = canonicalName(c.tool, c.server ?? '')
  const text = canonical({
    args: c.args, cwd: c.cwd ?? '', definition_digest: c.definition_digest ?? '', server, session: c.session ?? '', tool, v: 1,
  })
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return 'sha256:' + Array.from(new Uint8Array(hash), (b) => b.toString(16).padStart(2, '0')).join('')
}

function canonicalName(tool: string, server: string): [string, string] {
  if (server !== '') {
    const before = `mcp__${server.replace(/[^A-Za-z0-9_-]/gu, '_')}__`
    return [tool.startsWith(before) && tool !== before ? tool.slice(before.length) : tool, server]
  }
  tool = Object.hasOwn(own, tool) ? (own[tool] ?? tool) : tool
  const [, of, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? []
  return of && name ? [name, of] : [tool, '']
}

// of is the call that may run: with the edited arguments, if there are some.
export function of(d: Decision, call: Call): Call {
  return copied(d.args ? { ...call, args: d.args } : call)
}

const states = ['open', 'parked', 'allowed', 'denied', 'expired', 'withdrawn']

// readDecision reads a decision. A word that is not known is none.
export function readDecision(v: unknown): Decision {
  const d = isObject(v) ? v : {}
  const ok =
    (d.effect === 'allow' || d.effect === 'deny') && states.includes(d.state as string) && typeof d.id === 'string' && typeof d.digest === 'string' &&
    Array.isArray(d.by) && d.by.every((a) => isObject(a) && typeof a.principal === 'string') &&
    ['args', 'receipt'].every((name) => d[name] === undefined || isObject(d[name])) &&
    ['source', 'at', 'note', 'rule', 'file', 'reason', 'mode'].every((name) => d[name] === undefined || typeof d[name] === 'string')
  if (!ok) throw new CouldNotFindOut('the answer is no decision')
  return d as unknown as Decision
}

// checked returns an allow that is about the call, and throws for everything else.
export async function checked(d: Decision, call: Call): Promise<Decision> {
  if (d.effect !== 'allow') throw new Denied('', '', d)
  if (d.state !== 'allowed') throw new CouldNotFindOut('the answer is a yes to what is not decided')
  const want = await digest(of(d, call))
  if (d.digest !== want || d.receipt?.digest !== want || d.id === '' || d.receipt.request !== d.id) {
    throw new Mismatch('the server decided about another call')
  }
  return d
}
