// Does what the tests say with the client for TypeScript, under Node: one line of
// JSON in for each thing to do, one or more out. The clock of the wall jumps
// about, for nothing may depend on it.

import { createInterface } from 'node:readline'
import { parse, canonical } from '../../clients/typescript/dist/json.js'
import * as sayso from '../../clients/typescript/dist/node.js'

Date.now = () => Math.random() * 4e12

const waits = new Map() // by the id of what is being done: what gives it up, and what it is given meanwhile
const clients = new Map()

// A number that this language does not hold is a bigint here, and written as one.
const say = (line) => process.stdout.write(canonical(line) + '\n')

function error(no) {
  const { code, text: detail, ticket, decision, deadline, stop } = no
  return { class: no.name, code, detail, told: no.message, ticket, decision, deadline, stop, context: no.cause !== undefined }
}

const clientOf = ({ address, token, retry = 30 }) => {
  const key = `${address} ${token}`
  const platform = process.argv[2] === 'platform' && address.startsWith('http')
  if (!clients.has(key)) clients.set(key, platform ? new sayso.Client({ address, token, retry }) : sayso.connect({ address, token, retry }, {}))
  return clients.get(key)
}

const receipt = ({ request, digest }) => ({ effect: 'allow', state: 'allowed', id: request, digest, by: [], receipt: { request, digest } })
const answer = ({ scope, cover, for_, uses, note, args }) => {
  const given = { scope, cover, for: for_, uses, note }
  return { ...Object.fromEntries(Object.entries(given).filter(([, v]) => v)), ...(args && { args }) }
}

const deeds = {
  admit: (c, { call, presents, can_edit, ...more }, id, w) =>
    c.admit(sayso.parseCall(call), {
      ...more, canEdit: can_edit, signal: w.stop.signal,
      ...(presents && {
        present: () => {
          say({ id, present: true })
          return new Promise((given) => (w.given = given))
        },
      }),
    }),
  redeem: (c, a) => c.redeem(receipt(a.receipt), sayso.parseCall(a.call)),
  report: (c, { took, ...a }) => c.report({ ...a, took_s: took }),
  withdraw: (c, a) => c.withdraw(a.request, a.reason),
  begin: (c, a) => c.begin(a.session, a.host),
  end: (c, a) => c.end(a.session),
  requests: (c, a) => c.requests(a),
  request: (c, a) => c.request(a.id),
  content: (c, a) => c.content(a.id),
  answer: (c, { request, effect, ...more }) => c.answer(request, effect, answer(more)),
  answer_group: async (c, { group, members, effect, ...more }) =>
    (await c.answerGroup(group, members, effect, answer(more))).map(([id, a]) => (a instanceof sayso.NotAllowed ? { id, error: error(a) } : { id, decision: a })),
  life: (c, a) => c.life(a.id),
  follow: async (c, a, id, w) => {
    for await (const event of c.follow({ ...a, signal: w.stop.signal })) say({ id, event })
  },
  head: (c) => c.head(),
  sessions: async (c, a) => (await read(c, '/v1/sessions', { query: a })).sessions,
  grants: async (c, a) => (await read(c, '/v1/grants', { query: a })).grants,
  revoke: (c, a) => read(c, '/v1/grants/{id}', { path: { id: a.grant } }, 'DELETE'),
  policies: async (c, a) => (await read(c, '/v1/sessions/{session}/policies', { path: a })).policies,
  set_policies: (c, { session, policies }) => read(c, '/v1/sessions/{session}/policies', { path: { session } }, 'PUT', { policies }),
  mode: (c, { session }) => read(c, '/v1/mode', { query: session ? { session } : {} }),
  set_mode: (c, { mode, session, for_ }) => read(c, '/v1/mode', {}, 'PUT', { mode, session, for: for_ }),
  explain: (c, a) => read(c, '/v1/policy/check', {}, 'POST', { call: sayso.parseCall(a.call) }),
  digest: (_, a) => sayso.digest(sayso.parseCall(a.call)),
}

// read asks through the generated client, as for all routes without a method.
async function read(c, path, params, method = 'GET', body) {
  return (await c.api[method](path, { params, body })).data
}

async function run(line, w) {
  const { id } = line
  try {
    say({ id, out: (await deeds[line.op](line.address && clientOf(line), line.in ?? {}, id, w)) ?? null })
  } catch (no) {
    say({ id, error: no instanceof sayso.NotAllowed ? error(no) : { class: no?.name, code: 'fault', detail: String(no?.stack), told: '', ticket: '' } })
  } finally {
    waits.delete(id)
  }
}

createInterface({ input: process.stdin }).on('line', (text) => {
  const line = parse(text)
  const w = waits.get(line.id) ?? { stop: new AbortController() }
  if (line.op === 'cancel') return w.stop.abort()
  if (line.op === 'presented') return w.given?.(line.in)
  waits.set(line.id, w)
  run(line, w)
}).on('close', () => process.exit(0))
