// What people do on the page, over a real server with real requests.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, afterEach, before, test } from 'node:test'
import { axe, inert, live, quit, World } from './world.mjs'
import * as payload from './payloads.mjs'

let w
before(async () => { w = await World.start() })
afterEach(async () => {
  const [violations, foreign] = await w.clear()
  assert.deepEqual(violations, [], 'nothing was stopped by the policy of the page, and nothing failed in it')
  assert.deepEqual(foreign, [], 'nothing was asked of another host')
})
after(async () => {
  await w.end()
  await quit()
})

const button = (page, name) => page.getByRole('button', { name })
const ended = (page) => page.locator('.ended')
const items = (page) => page.locator('button.item')

test('sign in: a link is good once, leaves no trace, and no cookie is made', async () => {
  const link = w.link()
  const page = await w.page({ path: link.slice(w.address.length) })
  await page.getByText('live', { exact: true }).waitFor()
  assert.equal(page.url(), `${w.address}/`)
  assert.deepEqual(await page.context().cookies(), [])
  const again = await w.page({ path: link.slice(w.address.length) })
  await again.getByText('This code is not good any more').waitFor()
  await again.getByLabel('Or enter the code').fill(w.link())
  await button(again, 'Sign in').click()
  await again.getByText('live', { exact: true }).waitFor()
  await button(page, 'Sign out').click()
  await button(page, 'Sign in').waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.length), 0)
})

test('sign in: another program on this machine learns nothing, and its token is no good there', async () => {
  const mine = await w.page()
  await mine.getByText('live', { exact: true }).waitFor()
  const secret = await mine.evaluate(() => sessionStorage.getItem('sayso.token'))
  const other = createServer((_, r) => r.setHeader('Content-Type', 'text/html').end('<title>x</title>')).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const page = await mine.context().newPage() // not one of ours: what it asks for is not counted
  await page.goto(`http://127.0.0.1:${other.address().port}/`)
  const tried = await page.evaluate(async (address) => {
    const answers = []
    for (const more of [{}, { credentials: 'include' }, { mode: 'no-cors' }]) answers.push(await fetch(`${address}/v1/requests`, more).then((r) => r.type + r.status, () => 'refused'))
    return { answers, stored: sessionStorage.length, cookies: document.cookie }
  }, w.address)
  other.close()
  assert.deepEqual(tried, { answers: ['refused', 'refused', 'refused'], stored: 0, cookies: '' })
  for (const [address, want] of [[w.address, 200], [w.address.replace('127.0.0.1', 'localhost'), 401]]) {
    assert.equal((await fetch(`${address}/v1/head`, { headers: { Authorization: `Bearer ${secret}` } })).status, want)
  }
})

test('approve once, with the mouse and with a key', async () => {
  const page = await w.page()
  for (const press of [() => button(page, 'Allow once').click(), () => page.keyboard.press('y'), () => page.keyboard.press('A')]) {
    const asked = w.bash('git commit -m one')
    const [r] = await w.open(1)
    await live(page, r.id)
    assert.match(await page.title(), /^\(1\) sayso$/)
    await press()
    const { body } = await asked
    assert.equal(body.effect, 'allow')
    assert.equal(body.by[0].channel, 'web')
    await ended(page).getByText('Allowed by you').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing waits for you.').waitFor()
  }
  assert.equal(await page.title(), 'sayso')
})

test('deny with a note, typed, chosen, and none at all', async () => {
  const page = await w.page()
  const cases = [
    ['use make test', async () => { await page.keyboard.press('r'); await page.keyboard.type('use make test'); await page.keyboard.press('Enter') }],
    ['Use another way', async () => { await button(page, 'Use another way').click(); await page.locator('.why input').blur(); await page.keyboard.press('n') }],
    ['', async () => page.keyboard.press('Escape')],
  ]
  for (const [note, act] of cases) {
    const asked = w.bash('go test ./...')
    const [r] = await w.open(1)
    await live(page, r.id)
    await act()
    const { body } = await asked
    assert.deepEqual([body.effect, body.note ?? ''], ['deny', note])
    await ended(page).getByText('Denied by you').waitFor()
    await page.keyboard.press('Escape')
  }
})

test('session: what is covered is chosen, and holds', async () => {
  const page = await w.page()
  const asked = w.bash('git log --oneline')
  const [r] = await w.open(1)
  await live(page, r.id)
  await page.keyboard.press('s')
  const form = page.getByRole('form', { name: 'Allow for this session' })
  await form.locator('fieldset:enabled').waitFor()
  const offered = await form.locator('label:has([type=radio]) b').allTextContents()
  assert.equal(offered[0], r.covers[0].label)
  assert.ok(offered.length > 1, 'there is something to choose')
  await form.getByRole('radio').nth(1).check()
  await page.keyboard.press('Enter')
  assert.equal((await asked).body.effect, 'allow')
  await ended(page).getByText('Allowed by you').waitFor()
  const { grants } = await w.get('/v1/grants')
  assert.deepEqual(grants.map((g) => g.cover), [r.covers[1].cover])
  const again = await w.bash('git log --oneline -n 3')
  assert.deepEqual([again.body.effect, again.body.source], ['allow', 'grant'])
  assert.equal(await page.title(), 'sayso')
})

test('edit: the change is shown, judged, allowed and told', async () => {
  const page = await w.page()
  const asked = w.bash('git commit -m one', {}, { canEdit: true })
  const [r] = await w.open(1)
  await live(page, r.id)
  await page.keyboard.press('e')
  const field = page.getByLabel('All arguments, as JSON')
  await field.fill('{"command":')
  await page.getByText('This is no JSON object yet.').waitFor()
  assert.ok(await button(page, 'Look at the change').isDisabled())
  await field.fill('{"command":"git commit -m two"}')
  await button(page, 'Look at the change').click()
  await page.getByText('The policy, asked about the changed call: ask').waitFor()
  assert.match(await page.locator('.change').innerText(), /git commit -m two/)
  await button(page, 'Allow with these changes').click()
  const { body } = await asked
  assert.deepEqual([body.effect, body.args], ['allow', { command: 'git commit -m two' }])
  w.bash('git commit -m three')
  const [other] = await w.open(1)
  await page.locator(`button[data-id="${other.id}"]`).waitFor()
  await page.keyboard.press('j')
  await live(page, other.id)
  assert.equal(await button(page, 'Edit').count(), 0, 'a host that cannot edit is not offered it')
})

test('danger: a short press is no answer; a long one, or the ticket, is', async () => {
  const page = await w.page()
  for (const [answers, act] of [
    [false, () => page.keyboard.press('y')],
    [false, () => button(page, 'Hold to allow once').click()],
    [true, async () => { await page.keyboard.down('y'); await page.waitForTimeout(1400); await page.keyboard.up('y') }],
    [true, async () => { await button(page, 'Hold to allow once').hover(); await page.mouse.down(); await page.waitForTimeout(1400); await page.mouse.up() }],
    [true, async (r) => { await page.getByLabel(`type ${r.short_id}`).fill(r.short_id); await page.keyboard.press('Enter') }],
  ]) {
    const asked = w.bash('git push origin main')
    const [r] = await w.open(1)
    await live(page, r.id)
    await act(r)
    if (!answers) {
      await page.waitForTimeout(300)
      await w.open(1)
      await page.keyboard.press('n')
    }
    assert.equal((await asked).body.effect, answers ? 'allow' : 'deny')
    await ended(page).waitFor()
    await page.keyboard.press('Escape')
  }
})

test('two browsers: the second is told who was first, and nothing is lost', async () => {
  const mine = await w.page()
  const bobs = await w.page({ secret: w.bob })
  const asked = w.bash('git commit -m one')
  const [r] = await w.open(1)
  await Promise.all([live(mine, r.id), live(bobs, r.id)])
  let release
  const held = new Promise((resolve) => { release = resolve })
  await mine.route('**/answer', async (route) => { await held; await route.continue() })
  await mine.keyboard.press('y')
  await bobs.keyboard.press('n')
  assert.equal((await asked).body.effect, 'deny')
  await ended(mine).getByText('Denied by bob').waitFor()
  release()
  await mine.getByText('bob was first').waitFor()
  const { events } = await w.get(`/v1/requests/${r.id}/life`)
  assert.deepEqual(events.map((e) => e.type).filter((t) => /answer|resolved/.test(t)), ['approval.answered', 'approval.resolved', 'answer.refused'])
})

test('a request that ends stays, and no other slides under the key', async () => {
  const page = await w.page()
  w.bash('git commit -m one')
  const [first] = await w.open(1)
  w.bash('git commit -m two', { session: 's2' })
  await w.open(2)
  await live(page, first.id)
  await w.post(`/v1/requests/${first.id}/withdraw`, { reason: 'the turn was cancelled' })
  await ended(page).getByText('Withdrawn by the agent').waitFor()
  await page.keyboard.press('y')
  await page.waitForTimeout(inert + 200)
  await page.keyboard.press('y')
  await page.waitForTimeout(100)
  const [second] = await w.open(1)
  assert.equal(await page.locator('article').getAttribute('data-request'), first.id)
  await page.locator(`button[data-id="${second.id}"]`).waitFor()
  await page.keyboard.press('j')
  await live(page, second.id)
  assert.equal(await page.locator('section', { hasText: 'Look twice' }).count(), 0)
})

test('a server that restarts: the loss is seen, nothing is sent, and the page goes on', async () => {
  const page = await w.page()
  const asked = w.bash('git commit -m one', {}, { patience: 0.05 })
  const [r] = await w.open(1)
  await asked
  await live(page, r.id)
  await w.halt()
  await page.getByText('Connection lost.').waitFor()
  assert.ok(await button(page, 'Allow once').isDisabled())
  await page.keyboard.press('y')
  await w.serve()
  await page.getByText('Connected again.').waitFor()
  await w.open(1)
  w.bash('git commit -m new')
  await w.open(2)
  await page.getByText('2 requests wait').waitFor()
  await live(page, r.id)
  await page.keyboard.press('y')
  await ended(page).getByText('Allowed by you').waitFor()
})

test('keyboard alone: every place is reached and seen', async () => {
  for (const n of [1, 2, 3]) w.bash(`git commit -m ${n}`, { session: `s${n}` })
  const list = await w.open(3)
  const page = await w.page()
  const at = () => page.locator('article').getAttribute('data-request')
  await live(page)
  const seen = new Set([await at()])
  for (let i = 0; i < 2; i++) { await page.keyboard.press('j'); seen.add(await at()) }
  assert.equal(seen.size, 3)
  await page.keyboard.press('k')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('y')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
  await page.keyboard.press('/')
  await page.keyboard.type('commit yyy')
  await page.getByText('Nothing that waits matches.').waitFor()
  await page.keyboard.press('Escape')
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'BODY')
  await page.locator('#filter').fill('')
  await w.open(3) // nothing of all this was an answer
  const outlines = []
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab')
    outlines.push(await page.evaluate(() => { const s = getComputedStyle(document.activeElement); return document.activeElement === document.body || (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) }))
  }
  assert.ok(outlines.every(Boolean), 'what has the focus shows it')
  assert.ok(list.length === 3)
})

test('a key on its way is no answer to what was drawn meanwhile', async () => {
  const page = await w.page()
  const rounds = Number(process.env.ROUNDS ?? 12)
  let early = 0
  for (let i = 0; i < rounds; i++) {
    const asked = w.bash(`git commit -m ${i}`, { session: `s${i % 4}` }, { patience: 0.01 })
    await asked
    const [r] = await w.open(1)
    // Keys before the request is drawn, while it is, and until it is live.
    const wait = -200 + Math.round((600 * i) / rounds)
    if (wait < 0) await page.keyboard.press('y')
    await page.locator(`article[data-request="${r.id}"]`).waitFor()
    if (wait > 0) await page.waitForTimeout(Math.min(wait, inert - 200))
    for (const key of ['y', 'n', 'Escape', 'a']) await page.keyboard.press(key)
    if ((await w.get(`/v1/requests/${r.id}`)).state !== 'parked') early++
    await live(page, r.id)
    await page.keyboard.press('n')
    await ended(page).waitFor()
    await page.keyboard.press('Escape')
  }
  assert.equal(early, 0)
})

test('phone: one thing at a time, all of it within the width', async () => {
  w.bash('git commit -m one')
  w.ask({ tool: 'Edit', args: { file_path: '/home/dev/app/a.go', old_string: 'a', new_string: 'b' } }, { shown: payload.diff, canEdit: true })
  const list = await w.open(2)
  const page = await w.page({ width: 390, height: 844 })
  const narrow = async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
  await items(page).first().waitFor()
  await narrow()
  for (const r of list) {
    await page.locator(`button[data-id="${r.id}"]`).click()
    await live(page, r.id)
    await narrow()
    assert.equal(await items(page).first().isVisible(), false)
    await page.goBack()
    await items(page).first().waitFor()
  }
  await page.locator(`button[data-id="${list[0].id}"]`).click()
  await live(page, list[0].id)
  await button(page, 'Deny').click()
  await ended(page).getByText('Denied by you').waitFor()
  await narrow()
})

test('hostile payloads in every field stay text', async () => {
  const page = await w.page()
  for (const [call, options] of payload.hostile) w.ask(call, options)
  const list = await w.open(payload.hostile.length)
  for (const r of list) {
    await page.locator(`button[data-id="${r.id}"]`).click()
    await live(page, r.id)
    const text = await page.locator('body').innerText()
    const raw = /.{0,20}[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff].{0,20}/u.exec(text)
    assert.equal(raw && JSON.stringify(raw[0]), null, 'what deceives is spelled out')
    assert.equal(await page.evaluate(() => document.querySelectorAll('article script, article img, article iframe, article a').length), 0)
  }
  assert.equal(await page.evaluate(() => 'pwned' in window), false)
})

test('many requests: few rows are drawn, and the filter finds its own', async () => {
  for (let s = 0; s < 4; s++) await Promise.all(Array.from({ length: 100 }, (_, i) => w.bash(`echo s${s} n${i} > f`, { session: `m${s}` }, { patience: 0.001 })))
  await w.open(400)
  const page = await w.page()
  await page.getByText('400 requests wait').waitFor()
  assert.ok((await page.locator('.row').count()) < 60)
  await page.locator('.list').evaluate((e) => { e.scrollTop = e.scrollHeight })
  await page.locator('.row').last().locator('button').waitFor()
  assert.ok(await page.locator('.row').last().evaluate((e) => e.getBoundingClientRect().bottom <= innerHeight), 'the end was reached')
  assert.ok((await page.locator('.row').count()) < 60)
  await page.locator('#filter').fill('s2 n77')
  await page.locator('button.item').first().waitFor()
  assert.equal(await items(page).count(), 1)
})

test('whoever does not see or point: each view, both themes', async () => {
  const calls = [...payload.plain, ...payload.hostile.slice(4, 8), ...payload.hostile.slice(-1)]
  for (const [call, options] of calls) w.ask(call, options)
  const list = await w.open(calls.length)
  const wrong = []
  const look = async (page, what) => {
    for (const v of await axe(page)) wrong.push(`${what}: ${v}`)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${what.replaceAll(' ', '-')}.png` })
  }
  for (const [theme, width] of [['light', 1280], ['dark', 390]]) {
    const page = await w.page({ theme, width, height: 1500 })
    await page.getByText('live', { exact: true }).waitFor()
    if (width === 390) await look(page, `${theme} queue`)
    for (const r of list) {
      if (width === 390 && await button(page, 'Queue').isVisible()) await button(page, 'Queue').click()
      const row = page.locator(`button[data-id="${r.id}"]`)
      await row.click()
      await live(page, r.id)
      await look(page, `${theme} ${r.kind} ${r.short_id}`)
    }
    await page.keyboard.press('s')
    await page.locator('fieldset:enabled').waitFor()
    await look(page, `${theme} remember`)
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await look(page, `${theme} keys`)
  }
  const out = await w.page({ path: '/' })
  await button(out, 'Sign in').waitFor()
  await look(out, 'sign in')
  assert.deepEqual(wrong, [])
})

test('what comes in is said aloud', async () => {
  const page = await w.page()
  await page.getByText('live', { exact: true }).waitFor()
  w.bash('git push origin main')
  await w.open(1)
  const said = page.locator('[aria-live=polite]')
  await said.getByText('New request: bash').waitFor({ state: 'attached' })
  assert.equal(await said.textContent(), 'New request: bash, destructive, dangerous, from claude-code/main.')
})
