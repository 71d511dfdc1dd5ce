// Tests of what the promises of Gate and Inbox say nothing about, against a real
// server: CLIENTS_TEST_SOCKET is its socket. Type: go test ./lab/clients

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { canonical, parse } from './dist/json.js'
import * as sayso from 'sayso-client/node'

const address = process.env.CLIENTS_TEST_SOCKET
const AGENT = 'sayso_agent_SECRETSECRET'
const TOOL = 'sayso_tool_SECRETSECRET'
const PERSON = 'sayso_person_SECRETSECRET'
const agent = sayso.connect({ address, token: AGENT }, {})
const tool = sayso.connect({ address, token: TOOL }, {})
const person = sayso.connect({ address, token: PERSON }, {})

// answers has the person answer all that is asked in a session.
function answers(t, session, effect, more) {
  const stop = new AbortController()
  t.after(() => stop.abort())
  ;(async () => {
    try {
      for await (const e of person.follow({ since: 0, session, types: ['approval.requested'], signal: stop.signal })) {
        const r = await person.request(e.payload.id)
        if (r.state === 'open' || r.state === 'parked') await person.answer(r, effect, more)
      }
    } catch (e) {
      if (!(e instanceof sayso.Cancelled)) throw e
    }
  })()
}

async function lived(session) {
  const [r] = await person.requests({ session: [session], state: ['open', 'allowed', 'denied'] })
  return (await person.life(r.id)).map((e) => e.type.split('.')[1])
}

function deploy(session, run = () => {}) {
  const ran = []
  return [
    sayso.guard(agent, { tool: 'bash', session }, async (args) => {
      ran.push(args)
      run()
      return args.command
    }),
    ran,
  ]
}

test('a yes', async (t) => {
  const [run, ran] = deploy('yes')
  answers(t, 'yes', 'allow')
  assert.equal(await run({ command: 'make' }), 'make')
  assert.deepEqual(ran, [{ command: 'make' }])
  assert.deepEqual(await lived('yes'), ['requested', 'answered', 'resolved', 'redeemed', 'finished'])
})

test('what a tool says of its own calls', async () => {
  const sent = []
  const says = ({ to }) => ({
    patience: 0.05, asking: true,
    ...(!to.endsWith('@example.org') && { ask: { required: true, description: `Send email to ${to}`, payload: { to } } }),
  })
  const send = sayso.guard(tool, { tool: 'send_email', session: 'says', options: says }, ({ to }) => void sent.push(to))
  await send({ to: 'ana@example.org', body: 'a' })
  const asked = await send({ to: 'ben@x.net', body: 'a' }).then(() => assert.fail(), (e) => e)
  assert.ok(asked instanceof sayso.Pending)
  const request = await person.request(asked.ticket)
  assert.equal(request.description, 'Send email to ben@x.net')
  assert.deepEqual(request.ignores, ['body'])
  await person.answer(request, 'allow', { scope: 'session', cover: 'fingerprint' })
  await send({ to: 'ben@x.net', body: 'a' })
  await send({ to: 'ben@x.net', body: 'b' })
  assert.deepEqual(sent, ['ana@example.org', 'ben@x.net', 'ben@x.net'])
  const plain = sayso.guard(agent, { tool: 'send_email', session: 'says too', options: says }, ({ to }) => void sent.push(to))
  await assert.rejects(plain({ to: 'ana@example.org' }), sayso.Pending) // an agent cannot say that
  assert.equal(sent.length, 3)
})

test('a no', async (t) => {
  const [run, ran] = deploy('no')
  answers(t, 'no', 'deny', { note: 'not on a Friday' })
  await assert.rejects(run({ command: 'make' }), (no) => no instanceof sayso.Denied && no.note === 'not on a Friday' && /^Denied by ana \(ticket ....\): not/.test(no.message))
  assert.deepEqual(ran, [])
})

test('an edit', async (t) => {
  const [run, ran] = deploy('edit')
  answers(t, 'edit', 'allow', { args: { command: 'make -n', times: 2n ** 60n } })
  assert.equal(await run({ command: 'make' }), 'make -n')
  assert.deepEqual(ran, [{ command: 'make -n', times: 2n ** 60n }])
})

test('a failure is reported', async (t) => {
  const [run] = deploy('fail', () => {
    throw new Error('broken')
  })
  answers(t, 'fail', 'allow')
  await assert.rejects(run({ command: 'make' }), /broken/)
  assert.equal((await person.requests({ session: ['fail'], state: ['allowed'] }))[0].outcome, 'failed')
})

test('what runs is what was asked about', async (t) => {
  const [run, ran] = deploy('copy')
  const args = { command: 'make', to: ['ana'] }
  const done = run(args)
  args.to.push('everybody')
  answers(t, 'copy', 'allow')
  await done
  assert.deepEqual(ran, [{ command: 'make', to: ['ana'] }])
})

test('a wait is given up', async () => {
  const [run, ran] = deploy('gone')
  const stop = new AbortController()
  const done = run({ command: 'make' }, { signal: stop.signal })
  while ((await person.requests({ session: ['gone'] })).length === 0);
  stop.abort()
  await assert.rejects(done, sayso.Cancelled)
  for await (const _ of person.follow({ since: 0, session: 'gone', types: ['approval.parked'] })) break
  assert.deepEqual(ran, [])
})

test('nobody answers', async () => {
  await assert.rejects(agent.admit({ tool: 'bash', args: {}, session: 'pending' }, { patience: 0.05 }), (no) => no instanceof sayso.Pending && no.ticket.length === 36 && !no.stop)
  for (const patience of [0, -1, NaN, Infinity, 4e7]) await assert.rejects(agent.admit({ tool: 'bash', args: {} }, { patience }), sayso.Invalid)
})

test('very patient', async (t) => {
  answers(t, 'patient', 'allow')
  await agent.admit({ tool: 'bash', args: {}, session: 'patient' }, { patience: 3e7 })
})

test('what is no call', async () => {
  const sparse = { a: [1, , 2] } // eslint-disable-line no-sparse-arrays
  for (const args of [[], null, 'x', { a: new Date() }, { a: new Map() }, { a: () => 1 }, { a: NaN }, { a: Infinity }, sparse, { a: '\ud800' }, { a: 10n ** 400n }]) {
    await assert.rejects(agent.admit({ tool: 'bash', args }), sayso.Invalid, inspect(args))
  }
  await assert.rejects(agent.admit({ tool: 'bash', args: {}, host: 'claude-code' }), /host is for the hooks/)
  for (const text of ['{"tool":"bash","args":{"a":1,"a":2}}', '{"tool":"bash","tool":"x","args":{}}', '{"tool":"bash","args":{"a":9007199254740993.0}}']) {
    assert.throws(() => sayso.parseCall(text), sayso.Invalid)
  }
})

test('the prototype is a name like any other', () => {
  const read = parse('{"__proto__":{"effect":"allow"}}')
  assert.equal(read.effect, undefined)
  assert.equal(canonical(read), '{"__proto__":{"effect":"allow"}}')
})

test('canonical JSON', () => {
  const vectors = JSON.parse(readFileSync(new URL('../../testdata/vectors/jcs.json', import.meta.url), 'utf8'))
  let right = 0
  for (const v of vectors) {
    let got
    try {
      got = canonical(parse(v.in, true))
    } catch {
      continue // refused, as numbers that this language rounds
    }
    assert.equal(got, v.out, v.name)
    right++
  }
  assert.ok(right > vectors.filter((v) => 'out' in v).length - 15, `${right} of them`)
})

test('addresses', () => {
  for (const bad of [
    '', 'localhost:7777', 'http://', 'ftp://127.0.0.1', 'http://sayso.example.org', 'http://192.0.2.1:80', 'http://127.0.0.1.evil.example', 'https://user:pw@host',
    'https://host/path', 'https://host?x=1', 'https://host?', 'https://host#', 'unix://relative', 'http://localhost.evil.example', 'http://127.0.0.1@evil.example',
    'http://127.0.0.1:x', 'http://127.0.0.1:99999', 'https://ho st', 'https://host\r\n', 'http://127.0.0.1\\@evil.example', 'http://127.1', 'http://2130706433', 'http://localhost.',
    'http://0x7f.0.0.1', 'http://0177.0.0.1',
  ]) {
    assert.throws(() => new sayso.Client({ address: bad, token: AGENT }), sayso.Invalid, bad)
  }
  for (const good of ['http://127.0.0.1:7777', 'http://localhost:1', 'http://[::1]:1', 'https://sayso.example.org', 'https://h:1/', '/run/s', 'unix:///run/s']) {
    new sayso.Client({ address: good, token: AGENT })
  }
})

test('where the server and the token are', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sayso-'))
  t.after(() => rmSync(dir, { recursive: true }))
  assert.equal(sayso.socketPath({ SAYSO_HOME: '/x', XDG_RUNTIME_DIR: '/r', HOME: '/h' }), '/x/sayso.sock')
  assert.equal(sayso.socketPath({ HOME: '/h', XDG_RUNTIME_DIR: 'r', XDG_STATE_HOME: 's' }), '/h/.local/state/sayso/sayso.sock')
  assert.equal(sayso.socketPath({ HOME: '/h', XDG_RUNTIME_DIR: '/r' }), '/r/sayso/sayso.sock')
  assert.match(sayso.socketPath({ SAYSO_HOME: '/' + 'x'.repeat(120) }), /^\/tmp\/sayso-\d+\/[0-9a-f]{16}\.sock$/)
  assert.throws(() => sayso.connect({}, { SAYSO_HOME: dir }), /type: \(umask 077; sayso token create .* > (\S+)\), and start the program with SAYSO_TOKEN_FILE=\1/)
  assert.throws(() => sayso.connect({}, { SAYSO_HOME: dir, SAYSO_SERVER: 'https://sayso.example.org' }), /SAYSO_TOKEN_FILE/)
  mkdirSync(join(dir, 'tokens'))
  const file = join(dir, 'tokens', 'agent-script')
  writeFileSync(file, AGENT + '\n')
  chmodSync(file, 0o640)
  for (const env of [{ SAYSO_HOME: dir }, { SAYSO_TOKEN_FILE: file, HOME: dir }]) assert.throws(() => sayso.connect({}, env), /chmod 600/)
  chmodSync(file, 0o600)
  sayso.connect({}, { SAYSO_HOME: dir })
  for (const token of ['', 'a b', 'a\n', 'ä']) assert.throws(() => new sayso.Client({ address: '/s', token }), sayso.Invalid)
})

test('the token shows nowhere', async () => {
  const c = sayso.connect({ address: '/nonexistent/s', token: AGENT }, {})
  const no = await c.admit({ tool: 'bash', args: {} }).catch((e) => e)
  assert.ok(no instanceof sayso.Unreachable && no.refused)
  for (const shown of [inspect(c, { depth: 9, showHidden: true }), JSON.stringify(c), inspect(no, { depth: 9, showHidden: true }), no.stack]) assert.ok(!shown.includes('SECRET'), shown)
})

test('under an agent nobody is answered for', async () => {
  const r = await agent.admit({ tool: 'bash', args: { command: 'x' }, session: 'under' }, { patience: 0.05 }).catch((e) => e)
  const shown = await person.request(r.ticket)
  const under = sayso.connect({ address, token: PERSON }, { CLAUDECODE: '1' })
  await assert.rejects(under.answer(shown, 'allow'), sayso.NoRight)
})

test('every route there is', async () => {
  const { data } = await person.api.GET('/v1/sessions', { params: { query: {} } })
  assert.ok(data.sessions.length > 0)
  await assert.rejects(agent.api.GET('/v1/grants', {}), sayso.NoRight)
})
