// What the page works out by itself, without a browser.
import assert from 'node:assert/strict'
import { register } from 'node:module'
import { test } from 'node:test'

register('./typescript.mjs', import.meta.url)
const [diff, filter, json, life, marks, order, rules, tokens, words] = await Promise.all(
  ['diff', 'filter', 'json', 'life', 'marks', 'order', 'rules', 'tokens', 'words'].map((name) => import(`../src/${name}.ts`)),
)

// draw gives the same numbers below n in each run.
let seed = 7
const draw = (n) => (seed = (seed * 48271) % 2147483647) % n
const word = (...of) => Array.from({ length: draw(6) }, () => of[draw(of.length)]).join('')

test('json: every number stays as it was written', () => {
  for (const text of [
    '0', '-0', '1.0', '1e3', '-1E-7', '9007199254740993', '12345678901234567890', '[1,1.0,-0]', '{"a":{"b":[9007199254740993]}}',
    '"9007199254740993"', '{"1.0":"-0 \\" 1e9"}', '[true,null,"1.50",1.50]',
  ]) {
    assert.equal(json.write(json.parse(text)), text)
    assert.deepEqual(JSON.parse(json.write(json.parse(text), 2)), JSON.parse(text))
  }
  for (const text of ['', '{', '01', '{"a":1,}']) assert.throws(() => json.parse(text), text)
  assert.ok(!json.branches(json.parse('1.0')) && json.branches(json.parse('[]')) && !json.branches(null))
})

test('diff: of two texts, and back', () => {
  for (let i = 0; i < 500; i++) {
    const [was, is] = [word('a\n', 'b\n', '+c\n', '\n'), word('a\n', 'b\n', '-d\n', '@@ \n')]
    const lines = diff.between(was, is)
    const side = (sign) => lines.filter((l) => l.sign === ' ' || l.sign === sign).map((l) => l.text).join('\n')
    assert.deepEqual([side('-'), side('+')], [was, is])
    const pairs = diff.pairs(lines)
    assert.equal(pairs.flatMap((p) => (p.left === p.right ? [p.left] : [p.left, p.right].filter(Boolean))).length, lines.length)
  }
  const lines = diff.lines('--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ f\n same\n-one two three\n+one 2 three\n\\ No newline\n')
  assert.deepEqual(lines.map((l) => [l.sign, l.old, l.new]), [['@', null, null], [' ', 3, 3], ['-', 4, null], ['+', null, 4], ['\\', null, null]])
  assert.deepEqual(diff.changed('one two three', 'one 2 three'), [4, 7, 4, 5])
  assert.equal(diff.changed('abc', 'xyz'), null)
  assert.deepEqual(diff.lines('no difference').map((l) => l.text), ['no difference'])
})

test('marks: put together they are the text, and the innermost counts', () => {
  const text = 'ls ü > "x" 🎈 end'
  const long = new TextEncoder().encode(text).length
  for (let i = 0; i < 500; i++) {
    const list = Array.from({ length: draw(5) }, () => ({ from: draw(long + 3) - 1, to: draw(long + 3), kind: 'k', text: '' }))
    assert.equal(marks.runs(text, list).map((r) => r.text).join(''), text)
  }
  const at = (from, to, kind) => ({ from, to, kind, text: '' })
  assert.deepEqual(marks.runs('a b c', [at(0, 5, 'outer'), at(2, 3, 'inner')]), [{ text: 'a ', kind: 'outer' }, { text: 'b', kind: 'inner' }, { text: ' c', kind: 'outer' }])
  assert.equal(marks.part(text, at(3, 5, '')), 'ü')
  assert.equal(marks.part('x'.repeat(99), at(0, 99, '')).length, 60)
})

const item = (id, { session = 's', due = 1, digest = id, end = null } = {}) => ({
  r: { id, session_id: session, host: 'h', caller: 'c', cwd: '/p/app', digest, danger: [], said: {}, preview: { command: `run ${id}` }, tool: 'bash' }, end, yes: [], due, group: session,
})
const keys = (rows) => rows.map((r) => r.key)

test('order: the most urgent group and request first, twins together, and lines that keep their place', () => {
  const groups = new order.Groups()
  for (const i of [item('b', { due: 5 }), item('a', { due: 9, digest: 'same' }), item('z', { session: 't', due: 3 }), item('c', { due: 7, digest: 'same' }), item('d', { due: 8 })]) groups.put(i)
  assert.deepEqual(keys(order.rows(groups.list(), '')), ['t', 'z', 's', 'b', 'c', 'a', 'd'])
  assert.deepEqual(order.rows(groups.list(), '').filter((r) => r.twins > 1).map((r) => [r.key, r.twin]), [['c', 0], ['a', 1]])
  assert.deepEqual(keys(order.rows(groups.list(), 'RUN d')), ['s', 'd'])
  assert.deepEqual(keys(order.rows(groups.list(), 'nothing')), [])
  const before = groups.list()
  const held = order.hold(order.rows(before, ''), before)
  assert.equal(order.after(held, groups.list(), ''), held.rows)
  groups.put(item('e', { due: 1 }))
  groups.drop(item('z', { session: 't' }))
  assert.deepEqual(keys(order.after(held, groups.list(), '')), ['t', 'z', 's', 'b', 'c', 'a', 'd', 'new s', 'e'])
  assert.deepEqual(keys(order.rows(groups.list(), '')), ['s', 'e', 'b', 'c', 'a', 'd'])
})

test('filter: days are those of whoever looks, and what is empty is not asked for', () => {
  const asked = (text) => Object.fromEntries(filter.asked(new URLSearchParams(text)))
  assert.deepEqual(asked('text=+a+b+&state=&nonsense=1'), { text: 'a b' })
  assert.deepEqual(asked('from=2026-03-01&to=2026-03-01'), { since: new Date(2026, 2, 1).toISOString(), until: new Date(2026, 2, 2).toISOString() })
  assert.deepEqual(asked('from=2026-3-1&to=x&when=never'), {})
  assert.ok(Math.abs(Date.now() - 3_600_000 - Date.parse(asked('when=hour').since)) < 60_000)
})

test('tokens: put together they are the text, line by line', () => {
  for (let i = 0; i < 300; i++) {
    const list = Array.from({ length: draw(40) }, () => ({ text: word('x', '\n', 'y', '\n\n'), class: ['', 'keyword'][draw(2)] }))
    const lines = tokens.chunks(list).flatMap((c) => c.lines.map((l) => l.map((t) => t.text).join('')))
    const text = list.map((t) => t.text).join('')
    assert.equal(lines.join('\n'), text.replace(/\n$/, ''))
  }
  assert.deepEqual(tokens.chunks([{ text: 'a\n'.repeat(250) }]).map((c) => [c.first, c.lines.length]), [[1, 100], [101, 100], [201, 50]])
})

test('words: times, and a call on one line', () => {
  const second = 1000
  for (const [ms, left] of [[-5, '0 s'], [59 * second, '59 s'], [60 * second, '1:00'], [3599 * second, '59:59'], [3600 * second, '1 h 00'], [86_400 * second, '1 d']]) assert.equal(words.left(ms), left)
  for (const [ms, age] of [[0, 'just now'], [59 * second, '59 s ago'], [60 * second, '1 min ago'], [3600 * second, '1 h ago'], [200_000 * second, '2 d ago']]) assert.equal(words.age(ms), age)
  for (const [r, summary] of [
    [{ preview: { file_path: '/p/app/a.go', content: 'x' }, cwd: '/p/app' }, 'a.go'], [{ preview: { command: 'a\n  b' }, cwd: '' }, 'a b'],
    [{ kind: 'edit', preview: { command: '*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n*** End Patch' }, cwd: '' }, 'add a, update b, move to c'],
    [{ preview: { command: 'x', n: 1 }, cwd: '', server: 'srv' }, 'command: x  n: 1'],
    [{ preview: { owner: 'o', repo: 'r', path: '/p/a' }, cwd: '/p', server: 'srv' }, 'path: /p/a  owner: o  repo: r'], [{ preview: {}, description: '', host_tool: '', tool: 'bash', cwd: '' }, 'bash'],
  ]) assert.equal(words.summary(r), summary)
  assert.equal(words.weight({ looked_at: 9, would_have_covered: 4, denied: 1 }), 'would have covered 4 of the last 9 calls, of which 1 were denied')
  const long = { preview: {}, warnings: [{ kind: 'truncated', path: '/a/0', text: 'x' }, { kind: 'truncated', path: '/b~1', text: 'x' }, { kind: 'bidi', path: '/a/0' }, { kind: 'truncated', path: 'said' }] }
  assert.deepEqual(words.folded(long, { a: ['x'.repeat(4000)], 'b/': 'x'.repeat(4001) }).map((w) => w.kind), ['folded', 'bidi', 'truncated'])
  assert.deepEqual(words.folded(long, {}).map((w) => w.kind), ['folded', 'folded', 'bidi', 'truncated'])
  assert.deepEqual([words.riskOf({ risk: 'safe' }), words.risks[words.riskOf({ risk: 'destructive', unread: 'x' })]], ['safe', 'cannot be read'])
  assert.deepEqual([words.count(1, 'call'), words.count(5000, 'call')], ['1 call', '5,000 calls'])
})

test('life: every event is a sentence, and what is not known is named', () => {
  const at = (type, payload = {}, second = 0) => ({ type, payload, actor: { principal: 'ben', kind: 'person', channel: 'web' }, created_at: new Date(second * 1000).toISOString() })
  const [asked, refused, done] = life.steps([at('approval.requested', { cause: 'default' }), at('answer.refused', { effect: 'allow', why: 'requester' }, 2), at('approval.finished', { exit_status: 3, failed: true, took_ns: 2e9 }, 90)])
  assert.deepEqual([asked.what, asked.gap, asked.by], ['The agent asked', '', 'ben (person, on the page)'])
  assert.deepEqual([refused.what, refused.more, refused.gap], ['A yes was not taken', ['nobody answers their own request'], '2.0 s'])
  assert.deepEqual([done.what, done.more, done.gap], ['The call failed', ['exit status 3', 'ran for 2.0 s'], '1:28'])
  assert.equal(life.steps([at('answer.refused', { effect: 'deny', why: 'of tomorrow' })])[0].more[0], 'of tomorrow')
  assert.equal(life.steps([at('of.tomorrow')])[0].what, 'of.tomorrow')
  const by = (kind, channel, type = 'approval.requested', payload = {}) => life.steps([{ ...at(type, payload), actor: { principal: 'x', kind, channel } }])[0]
  for (const [channel, where] of [['driver', 'by what drives it'], ['mcp', 'by the gateway'], ['acp', 'by the relay to its editor'], ['hook', 'by its hook']]) assert.equal(by('agent', channel).by, `x (agent, ${where})`)
  const doubt = 'by way of the client that asked: a program may have answered'
  assert.equal(by('person', 'elicitation', 'approval.answered', { effect: 'allow' }).by, `x (${doubt})`)
  const decided = (channel) => by('broker', '', 'approval.resolved', { effect: 'allow', source: 'person', by: [{ principal: 'x', kind: 'person', channel }] }).more[0]
  assert.deepEqual([decided('web'), decided('elicitation')], ['by a person', doubt])
})

test('rules: what somebody types as a call, and where a change is to be written', () => {
  assert.deepEqual(rules.called('ls -l', '/p'), { tool: 'bash', args: { command: 'ls -l' }, cwd: '/p' })
  assert.deepEqual(rules.called(' {"tool":"x"}', ''), { tool: 'x' })
  assert.deepEqual([rules.called('  ', ''), rules.called('{"tool":', '')], [null, null])
  const x = { text: 'ü git push', words: 'git', span: [3, 6] }
  assert.deepEqual(rules.decided(x), [{ from: 3, to: 6, kind: 'decided', text: '' }])
  assert.deepEqual(rules.decided({ ...x, span: [0, 3] }), [])
  const edit = { do: 'insert', file: 'policy.yaml', line: 3, column: 5, under: 'rules', old: '- ask: bash', text: '- allow: x', rule: '', whole: false }
  assert.equal(rules.told(edit).where, 'In policy.yaml:3:5, under rules, before - ask: bash, write')
  assert.equal(rules.told({ ...edit, file: '', line: 0, do: 'add' }).where, 'In your policy file, under rules, write')
})
