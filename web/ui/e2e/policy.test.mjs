// The policy and the state of the gate, over a real server with a real log.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { stage, w } from './stage.mjs'
import { everywhere } from './world.mjs'

stage(() => {
  rule('version: 1\nrules:\n  - deny: "bash:rm*"\n    name: nothing is removed\n  - ask: "bash:git push*"\n    name: pushing takes a person\n  - deny: "web-fetch:https://bad.example/*"\n')
})

const button = (page, name) => page.getByRole('button', { name })
const file = () => join(w.home, 'policy.yaml')
const rule = (text) => writeFileSync(file(), text, { mode: 0o600 })
const opened = (path, more = {}) => w.page({ path, secret: w.bob, ...more })

const fetched = (url) => ({ tool: 'WebFetch', args: { url, prompt: 'look' } })

// settle makes a call and has bob answer it, if he is asked.
async function settle(call, effect) {
  const asked = w.ask(call)
  const [r] = await w.open(1)
  await w.get(`/v1/requests/${r.id}/content`)
  const { status, body } = await w.post(`/v1/requests/${r.id}/answer`, { digest: r.digest, content: r.content, effect }, w.bob)
  assert.equal(status, 200, JSON.stringify(body))
  await asked
  return r
}

test('policy: what is in force is read, what of it asked, and what is wrong with it', async () => {
  w.bash('git push origin main')
  await w.open(1)
  const page = await opened('/policy')
  const mine = page.locator('article', { hasText: file() })
  await mine.getByText('nothing is removed').waitFor()
  assert.match(await mine.innerText(), /Yours.*in force.*3 rules.*1\s*version: 1\s*2\s*rules:/s)
  await mine.getByText('asked 1 time in the last 7 days').waitFor()
  assert.match(await page.locator('article', { hasText: 'The organisation’s' }).innerText(), /not there/)
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/policy-in-force.png` })
  const was = readFileSync(file(), 'utf8')
  rule('version: 1\nrules:\n  - alow: bash\n')
  await page.reload()
  await page.getByRole('alert').getByText('The policy that loaded before is in force.').waitFor()
  assert.match(await mine.innerText(), /does not load.*3\s*- alow: bash\s*"alow" is no key of a rule/s)
  await everywhere(page, 'policy')
  rule(was)
  await page.reload()
  await mine.getByText('3 rules').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('explain: a line that is typed, by keyboard alone, down to the line of the file', async () => {
  const page = await opened('/policy/explain')
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByLabel('A line of bash').focus()
  await page.keyboard.type('ls && git push origin main')
  await page.keyboard.press('Enter')
  const out = page.getByRole('article', { name: 'Explanation' })
  await out.getByText('asked about').first().waitFor()
  assert.equal(await out.locator('mark').innerText(), 'git push')
  for (const part of ['pushing takes a person', 'Command by command', 'To have it allowed', 'To have it denied']) assert.ok((await out.innerText()).includes(part), part)
  await everywhere(page, 'explain')
  const link = out.getByRole('link', { name: `${file()}:5` }).first()
  await link.focus()
  await page.keyboard.press('Enter')
  await page.locator('.line.at').getByText('git push').waitFor()
  await page.goBack()
  await page.getByLabel('A line of bash').fill('{"tool":"file-read",')
  await button(page, 'Explain').click()
  await page.getByRole('alert').getByText('This is no JSON object.').waitFor()
  await page.getByLabel('A line of bash').fill('{"tool":"file-read","args":{"path":"a"},"cwd":"/home/dev/app","nonsense":1}')
  await button(page, 'Explain').click()
  await page.getByRole('alert').getByText('This is no call').waitFor()
  await page.getByLabel('A line of bash').fill('{"tool":"file-write","args":{"path":"/etc/passwd","content":"x"}}')
  await button(page, 'Explain').click()
  await out.getByText('file-write').first().waitFor()
})

test('explain: a request of the log, with what is hidden hidden and what deceives spelled out', async () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  w.bash(`git push https://x:${secret}@example.org # \u202egnp <img src=x onerror="window.pwned=1">`)
  const [r] = await w.open(1)
  const page = await opened(`/policy/explain?request=${r.id}`)
  const out = page.getByRole('article', { name: 'Explanation' })
  await out.getByText('pushing takes a person').first().waitFor()
  const text = await page.locator('body').innerText()
  assert.ok(text.includes('<img src=x') && text.includes('hidden'), text)
  assert.doesNotMatch(text, /ghp_|[\u202a-\u202e]/u)
  assert.equal(await page.evaluate(() => 'pwned' in window || document.querySelectorAll('article img').length > 0), false)
  await page.goto(`${w.address}/policy/explain?request=0000`)
  await page.getByRole('alert').getByText('There is no such request').waitFor()
})

test('replay: the flips of a change both ways, denials first, and nothing is saved', async () => {
  await settle(fetched('https://example.org/one'), 'allow')
  await settle(fetched('https://example.org/two'), 'deny')
  assert.equal((await w.ask(fetched('https://bad.example/'))).body.effect, 'deny')
  await settle(fetched('https://example.org/?token=ghp_abcdefghijklmnopqrstuvwxyz0123456789'), 'deny')
  const was = readFileSync(file(), 'utf8')
  const page = await opened('/policy/replay')
  const field = page.getByLabel('Instead of')
  assert.equal(await field.inputValue(), was)
  await button(page, 'Replay').click()
  await page.getByText('Nothing would have come out otherwise.').waitFor()
  await field.fill('version: 1\nrules:\n  - allow: web-fetch\n  - alow: x\n')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').getByText('mistake in line 4').waitFor()
  assert.equal(await field.evaluate((e) => e.value.slice(e.selectionStart, e.selectionEnd)), '  - alow: x')
  await field.fill('version: 1\nrules:\n  - allow: web-fetch\n    name: all addresses\n')
  await page.keyboard.press('Control+Enter')
  const out = page.getByRole('region', { name: 'What would have been' })
  await out.getByText('that was denied would be allowed').or(out.getByText('that were denied would be allowed')).waitFor()
  const text = await out.innerText()
  for (const part of ['Denied → allowed', 'https://example.org/two', 'https://bad.example/', 'a person said no', 'all addresses', 'saved', 'left out']) assert.ok(text.includes(part), `${part} in ${text}`)
  assert.doesNotMatch(await page.locator('body').innerText(), /ghp_/)
  await everywhere(page, 'replay')
  assert.equal(readFileSync(file(), 'utf8'), was, 'the file is as it was')
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Grants' }).click()
  await page.goBack()
  assert.match(await page.getByLabel('Instead of').inputValue(), /all addresses/, 'what was typed is still there')
  await button(page, 'As the file has it').click()
  assert.equal(await page.getByLabel('Instead of').inputValue(), was)
})

test('status: what asks most, how often, and whether the gate is live', async () => {
  const page = await opened('/status')
  const prompts = page.getByRole('region', { name: 'Prompts' })
  await prompts.getByText('Too few calls for a rate').waitFor()
  for (let i = 0; i < 25; i++) await w.bash(`rm -r build${i}`)
  w.bash('git push origin main')
  await w.open(1)
  await page.reload()
  await prompts.getByText('in 100 calls').waitFor()
  await page.getByRole('region', { name: 'Waiting' }).getByText('under a minute').waitFor()
  const agents = await page.getByRole('region', { name: 'Agents' }).innerText()
  assert.match(agents, /claude-code.*not protected.*its last call came.*no agent has the hook/s)
  const hook = join(w.home, 'sayso-hook')
  writeFileSync(hook, '#!/bin/sh\n', { mode: 0o755 })
  w.run('init', 'cursor', '--yes', '--hook', hook)
  await page.reload()
  const cursor = page.getByRole('region', { name: 'Agents' }).getByRole('listitem').filter({ hasText: 'cursor' })
  assert.match(await cursor.innerText(), /unknown.*not proved.*have Cursor make a call, and see that the call waits/s)
  w.run('init', 'cursor', '--undo', '--yes')
  const asks = page.getByRole('region', { name: 'What asks most' })
  await asks.getByText('pushing takes a person').waitFor()
  await asks.getByRole('listitem').filter({ hasText: 'pushing takes a person' }).getByRole('link', { name: 'explain its newest' }).click()
  await page.getByRole('article', { name: 'Explanation' }).getByText('pushing takes a person').first().waitFor()
  w.run('lock')
  try {
    await page.goto(`${w.address}/status`)
    await page.getByRole('alert').getByText('Locked.').waitFor()
    await everywhere(page, 'status')
  } finally {
    w.run('lock', '--release')
  }
})

test('status and policy: who may only look is told no more', async () => {
  const vic = w.token('vic', 'viewer', [])
  const page = await w.page({ path: '/status', secret: vic })
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
  assert.doesNotMatch(await page.locator('body').innerText(), /pushing takes a person/, 'of calls that vic may not see nothing is counted')
  await page.goto(`${w.address}/policy`)
  await page.getByRole('alert').getByText('This is not for whom you are signed in as.').waitFor()
  assert.doesNotMatch(await page.locator('body').innerText(), /nothing is removed/)
})

// eventually waits until something holds that nothing can be waited for.
async function eventually(holds) {
  for (let i = 0; !(await holds()); i++) {
    if (i > 800) throw new Error(`it did not come to ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

test('notices: who is told elsewhere, what could not be delivered, and trying again', async () => {
  let says = 503
  const told = []
  const far = createServer((request, answer) => {
    request.resume()
    request.on('end', () => { told.push(request.headers['webhook-id']); answer.writeHead(says).end() })
  })
  await new Promise((ready) => far.listen(0, '127.0.0.1', ready))
  const before = readFileSync(file(), 'utf8')
  const secret = join(w.home, 'far.secret')
  writeFileSync(secret, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n', { mode: 0o600 })
  rule(`${before}notices:\n  - {name: far, webhook: "http://127.0.0.1:${far.address().port}/", secret: {file: "${secret}"}}\n`)
  try {
    await eventually(async () => (await w.get('/v1/notices')).targets.length === 1)
    const waits = (await w.get('/v1/requests?state=open')).requests.length
    w.bash('git push origin notices')
    await w.open(waits + 1)
    await eventually(async () => (await w.get('/v1/notices')).notices.length === 1)
    const page = await opened('/status')
    const notices = page.getByRole('region', { name: 'Webhooks and chats' })
    await notices.getByText('it answered with status 503').waitFor()
    await everywhere(page, 'notices')
    says = 200
    await notices.getByRole('button', { name: 'Try again: opened to far' }).click()
    await eventually(async () => (await w.get('/v1/notices')).notices.length === 0)
    await page.reload()
    await notices.getByText('1 delivered').waitFor()
    assert.equal(new Set(told).size, 1, 'it is told under one id')
    const vic = await w.page({ path: '/status', secret: w.token('val', 'viewer', []) })
    await vic.getByRole('heading', { name: 'Agents' }).waitFor()
    assert.equal(await vic.getByRole('heading', { name: 'Webhooks and chats' }).count(), 0)
    // Who may not see them is not asked for again; the status is.
    const asked = []
    vic.on('response', (r) => asked.push(new URL(r.url()).pathname))
    await vic.clock.install()
    await vic.reload()
    await vic.getByRole('heading', { name: 'Agents' }).waitFor()
    for (let i = 1; i < 4; i++) {
      await vic.clock.fastForward(31_000)
      await eventually(() => asked.filter((path) => path === '/v1/status').length > i)
    }
    assert.equal(asked.filter((path) => path === '/v1/notices').length, 1)
  } finally {
    rule(before)
    far.close()
  }
})

test('theme: the button says what it does, and what was chosen is kept', async () => {
  const page = await opened('/status')
  const ink = () => page.evaluate(() => getComputedStyle(document.body).color)
  const [light, dark] = ['rgb(27, 28, 30)', 'rgb(233, 232, 228)']
  assert.equal(await ink(), light)
  for (const [name, want] of [['Dark theme', dark], ['Light theme', light], ['System theme', light], ['Dark theme', dark]]) {
    await button(page, name).click()
    assert.equal(await ink(), want, name)
  }
  await page.reload()
  await button(page, 'Light theme').waitFor()
  assert.equal(await ink(), dark)
  await button(page, 'Light theme').click()
  await button(page, 'System theme').click()
  await page.emulateMedia({ colorScheme: 'dark' }) // the evening comes
  await button(page, 'Light theme').waitFor()
  assert.equal(await ink(), dark)
})

test('connection lost: what was read stays, and what cannot be read says so', async () => {
  const page = await opened('/policy/explain')
  await page.getByText('live', { exact: true }).waitFor()
  await w.halt()
  await page.getByText('Connection lost.').waitFor()
  await page.getByLabel('A line of bash').fill('ls')
  await button(page, 'Explain').click()
  await page.getByRole('alert').getByText('The server does not answer.').waitFor()
  await w.serve()
  await page.getByText('live', { exact: true }).waitFor()
  await button(page, 'Explain').click()
  await page.getByRole('article', { name: 'Explanation' }).waitFor()
})
