// What people decide on the page, over a real server with real requests.
import assert from 'node:assert/strict'
import { readdirSync, renameSync } from 'node:fs'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { stage, w } from './stage.mjs'
import { inert, live } from './world.mjs'

stage()

const button = (page, name) => page.getByRole('button', { name })
const ended = (page) => page.locator('.ended')
const items = (page) => page.locator('button.item')
const icon = (page) => page.getAttribute('link[rel=icon]', 'href')

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

test('the page may load what is its own, and nothing else', async () => {
  const r = await fetch(w.address)
  const policy = r.headers.get('Content-Security-Policy')
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) assert.ok(policy.includes(part), part)
  assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  assert.deepEqual(['X-Content-Type-Options', 'Referrer-Policy'].map((name) => r.headers.get(name)), ['nosniff', 'no-referrer'])
  const again = await fetch(w.address, { headers: { 'If-None-Match': r.headers.get('ETag') } })
  assert.equal(again.status, 304)
})

test('approve once, with the mouse and with a key', async () => {
  const page = await w.page()
  for (const press of [() => button(page, 'Allow once').click(), () => page.keyboard.press('y'), () => page.keyboard.press('A')]) {
    const asked = w.bash('git commit -m one')
    const [r] = await w.open(1)
    await live(page, r.id)
    assert.match(await page.title(), /^\(1\) sayso$/)
    assert.match(await icon(page), /^data:image\/png/)
    await press()
    const { body } = await asked
    assert.equal(body.effect, 'allow')
    assert.equal(body.by[0].channel, 'web')
    await ended(page).getByText('Allowed by you').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing waits for you.').waitFor()
  }
  assert.equal(await page.title(), 'sayso')
  assert.equal(await icon(page), '/icon.svg')
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
  await mine.evaluate(() => { // this page's answer stays on its way until it is let go
    const real = window.fetch
    const held = new Promise((resolve) => { window.letGo = resolve })
    window.fetch = async (at, how) => {
      if (String(at).endsWith('/answer')) await held
      return real(at, how)
    }
  })
  await mine.keyboard.press('y')
  await bobs.keyboard.press('n')
  const { body } = await asked
  assert.equal(body.effect, 'deny', JSON.stringify([body, (await w.get(`/v1/requests/${r.id}/life`)).events]))
  await ended(mine).getByText('Denied by bob').waitFor()
  await mine.evaluate(() => window.letGo())
  await mine.getByText('bob was first').waitFor()
  const { events } = await w.get(`/v1/requests/${r.id}/life`)
  assert.deepEqual(events.map((e) => e.type).filter((t) => /answer|resolved/.test(t)), ['approval.answered', 'approval.resolved', 'answer.refused'])
  await mine.getByRole('link', { name: 'All that became of it' }).click()
  await mine.locator('li', { hasText: 'A yes was not taken' }).getByText('somebody was first').waitFor()
})

test('an answer is yours also where the log tells of it first', async () => {
  const page = await w.page()
  w.bash('git commit -m one')
  const [r] = await w.open(1)
  await live(page, r.id)
  await page.evaluate(() => { // what the server says to it comes late
    const real = window.fetch
    window.fetch = async (at, how) => {
      const answer = await real(at, how)
      if (String(at).endsWith('/answer')) await new Promise((resolve) => { window.letGo = resolve })
      return answer
    }
  })
  await page.keyboard.press('y')
  await ended(page).getByText(/Allowed by \w+ at/).waitFor()
  await page.evaluate(() => window.letGo())
  await ended(page).getByText('Allowed by you').waitFor()
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

test('a server that restarts: the loss is seen, nothing is sent, and the page shows what changed', async () => {
  const page = await w.page()
  for (const [command, session] of [['git commit -m one', 'a'], ['git commit -m two', 'b']]) await w.bash(command, { session: w.session + session }, { patience: 0.01 })
  const [r, other] = await w.open(2)
  await live(page, r.id)
  await page.evaluate(() => { // the page stays cut off until it is let go
    const real = window.fetch
    window.cut = true
    window.fetch = (at, how) => (window.cut && String(at).startsWith('/v1/events') ? Promise.reject(new TypeError('cut off')) : real(at, how))
  })
  await w.halt()
  await page.getByText('Connection lost.').waitFor()
  assert.ok(await button(page, 'Allow once').isDisabled())
  await page.keyboard.press('y')
  await w.serve()
  await w.open(2)
  await w.bash('git commit -m new', {}, { patience: 0.01 })
  await w.post(`/v1/requests/${other.id}/withdraw`, { reason: 'the turn was cancelled' })
  await page.evaluate(() => { window.cut = false })
  await page.getByRole('banner').getByText('Connected again. Meanwhile 1 request came in and 1 ended.').waitFor()
  assert.equal(await page.locator('[aria-live=polite]').textContent(), 'Connected again. Meanwhile 1 request came in and 1 ended.')
  await page.getByText('Which', { exact: true }).click()
  assert.deepEqual(await page.getByRole('banner').getByRole('listitem').allInnerTexts(), ['new git commit -m new', 'withdrawn git commit -m two'])
  await button(page, 'Dismiss').click()
  await page.getByText('2 requests wait').waitFor()
  await live(page, r.id)
  await page.keyboard.press('y')
  await ended(page).getByText('Allowed by you').waitFor()
})

test('what only opens something need not wait, and Esc closes that alone', async () => {
  const page = await w.page()
  await w.bash('git commit -m one', {}, { patience: 0.01, canEdit: true })
  const [r] = await w.open(1)
  await page.locator(`article[data-request="${r.id}"]`).waitFor()
  await page.locator('section[aria-label="Answer"]').waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  for (const [key, opened] of [['s', 'What a yes covers from now on'], ['e', 'All arguments, as JSON']]) {
    await page.keyboard.press(key)
    await page.getByText(opened).first().waitFor()
    if (key === 'e') await page.locator('textarea').first().focus()
    await page.keyboard.press('Escape')
    await page.getByText(opened).first().waitFor({ state: 'detached' })
  }
  assert.equal((await w.get(`/v1/requests/${r.id}`)).state, 'parked')
})

test('nothing moves under the pointer, and what ended stays until it leaves', async () => {
  const page = await w.page()
  for (const n of [1, 2, 3]) {
    w.bash(`git commit -m ${n}`)
    await w.open(n)
  }
  const [first, second] = await w.open(3)
  await live(page, first.id)
  await items(page).nth(2).waitFor()
  const row = (r) => page.locator(`button[data-id="${r.id}"]`)
  const before = await row(second).boundingBox()
  await row(second).hover()
  await row(second).click()
  await live(page, second.id)
  await w.post(`/v1/requests/${first.id}/withdraw`, { reason: 'no more' })
  await row(first).getByText('ended').waitFor()
  assert.deepEqual(await row(second).boundingBox(), before)
  await page.mouse.move(900, 300)
  await row(first).waitFor({ state: 'detached' })
})

test('numbers: what is shown, edited and runs is what was written, to the last digit', async () => {
  const page = await w.page()
  const written = '{"account":9007199254740993,"amount":1.0,"deep":[-9007199254740993,{"far":12345678901234567890}],"note":"9007199254740993"}'
  const call = { host: 'claude-code', session: w.session, call_id: 'toolu_numbers', cwd: '/home/dev/app', caller: 'claude-code/main', tool: 'pay', server: 'bank', args: 0 }
  const asked = w.post('/v1/admissions', JSON.stringify({ call, patience_s: 120, can_edit: true }).replace('"args":0', `"args":${written}`))
  const [r] = await w.open(1)
  await live(page, r.id)
  const shown = await page.locator('article').innerText()
  for (const number of ['9007199254740993', '-9007199254740993', '12345678901234567890']) assert.ok(shown.includes(number), `${number} in ${shown}`)
  await page.keyboard.press('e')
  const field = page.getByLabel('All arguments, as JSON')
  const text = await field.inputValue()
  assert.match(text, /"account": 9007199254740993,/)
  await field.fill(text.replace(/"note": "\d+"/, '"note": "changed"'))
  await button(page, 'Look at the change').click()
  await button(page, 'Allow with these changes').click()
  const { body, text: answer } = await asked
  assert.equal(body.effect, 'allow')
  for (const part of ['"account":9007199254740993', '[-9007199254740993,{"far":12345678901234567890}]', '"note":"changed"']) assert.ok(answer.includes(part), `${part} in ${answer}`)
  await ended(page).getByText('Allowed by you').waitFor()
})

test('a key that is held answers one request, and closes nothing else', async () => {
  const page = await w.page()
  for (const [key, state] of [['Escape', 'denied'], ['n', 'denied'], ['y', 'allowed']]) {
    for (const n of [1, 2, 3]) w.bash(`git commit -m ${key}${n}`, { session: `${w.session}-${key}` })
    const [r] = await w.open(3)
    await page.locator(`button[data-id="${r.id}"]`).click()
    await live(page, r.id)
    await page.keyboard.down(key)
    await ended(page).getByText(/by you/).waitFor()
    // Held on, it comes again and again, on some systems without saying so.
    for (let i = 0; i < 16; i++) {
      if (i % 2) await page.keyboard.down(key)
      else await page.evaluate(({ key, code }) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, code, bubbles: true, cancelable: true })), { key, code: key === 'Escape' ? key : `Key${key.toUpperCase()}` })
      await page.waitForTimeout(30)
    }
    assert.equal((await page.locator('article').getAttribute('data-request')), r.id, `held ${key} goes nowhere`)
    // Not even when the next request is on the screen and live.
    const next = (await w.open(2))[0]
    await page.locator(`button[data-id="${next.id}"]`).click()
    await live(page, next.id)
    for (let i = 0; i < 5; i++) await page.keyboard.down(key)
    await page.waitForTimeout(200)
    assert.deepEqual((await w.open(2)).map((r) => r.state), ['open', 'open'], `${key} was held`)
    assert.equal((await w.get(`/v1/requests/${r.id}`)).state, state)
    await page.keyboard.up(key)
    await page.keyboard.press(key)
    await ended(page).getByText(/by you/).waitFor()
    for (const left of await w.open(1)) await w.post(`/v1/requests/${left.id}/withdraw`, { reason: 'the round ended' })
    await page.getByText('0 requests wait').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing waits for you.').waitFor()
  }
})

test('what is chosen is answered elsewhere: the keys that meant it are no answer for a moment', async () => {
  const page = await w.page()
  for (const n of [1, 2]) w.bash(`git commit -m ${n}`)
  const [first, second] = await w.open(2)
  await page.locator(`button[data-id="${first.id}"]`).click()
  await live(page, first.id)
  await page.getByLabel(`Choose ${second.short_id}`).check()
  await page.getByText('1 chosen').waitFor()
  await live(page, first.id)
  await page.evaluate(() => {
    const seen = new MutationObserver(() => {
      if (document.querySelector('.chosen')) return
      seen.disconnect()
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))
      window.escaped = true
    })
    seen.observe(document.body, { childList: true, subtree: true })
  })
  await w.post(`/v1/requests/${second.id}/withdraw`, { reason: 'no more' })
  await page.waitForFunction(() => window.escaped)
  await live(page, first.id)
  assert.equal((await w.open(1))[0].id, first.id, 'Esc was to let go of what was chosen')
})

test('a backup is restored under the page: it reads all anew, and forgets what never was', async () => {
  const page = await w.page()
  await w.bash('git commit -m kept', { session: `${w.session}a` }, { patience: 0.01 })
  const backup = `${w.home}/backup`
  w.run('backup', backup)
  for (let i = 0; i < 8; i++) await w.bash(`git commit -m gone${i}`, { session: `${w.session}b` }, { patience: 0.01 })
  await page.getByText('9 requests wait').waitFor()
  await w.halt()
  await page.getByText('Connection lost.').waitFor()
  for (const name of readdirSync(w.home).filter((name) => /^sayso\.db|^segments$/.test(name))) renameSync(`${w.home}/${name}`, `${w.home}/old-${name}`)
  w.run('restore', backup)
  await w.serve()
  const left = await w.get('/v1/requests')
  await page.getByText(`${left.requests.length} request${left.requests.length === 1 ? ' waits' : 's wait'}`).waitFor()
  assert.equal(await page.getByText('gone').count(), 0)
  await w.bash('git commit -m after', { session: `${w.session}c` }, { patience: 0.01 })
  await items(page).getByText('git commit -m after').waitFor()
})

test('session: others like it are told, and each waits for an answer of its own', async () => {
  const page = await w.page()
  for (let n = 0; n < 3; n++) w.bash('git log --oneline')
  w.bash('git log --oneline', { session: `${w.session}-other` })
  const [r] = (await w.open(4)).filter((r) => r.session_id === w.session)
  await page.locator(`button[data-id="${r.id}"]`).click()
  await live(page, r.id)
  await page.getByText('3 calls with exactly these arguments wait.').waitFor()
  await page.keyboard.press('s')
  await page.locator('fieldset:enabled').waitFor()
  await page.keyboard.press('Enter')
  await ended(page).getByText('Remembered for this session: this exact call. 2 like it still wait.').waitFor()
  const [, twin] = (await w.open(3)).filter((r) => r.session_id === w.session)
  await w.post(`/v1/requests/${twin.id}/withdraw`, { reason: 'no more' })
  await ended(page).getByText('1 like it still waits.').waitFor()
  await page.keyboard.press('j')
  await live(page)
  await page.keyboard.press('n')
  await ended(page).getByText('Denied by you').waitFor()
  assert.equal(await ended(page).getByText('Remembered').count(), 0)
})

test('a reload in mid-decision answers nothing, and the request is there again', async () => {
  const page = await w.page()
  const asked = w.bash('git push origin main', {}, { canEdit: true })
  const [r] = await w.open(1)
  await live(page, r.id)
  await page.keyboard.press('e')
  await page.getByLabel('All arguments, as JSON').fill('{"command":"git push origin topic"}')
  await page.reload()
  await live(page, r.id)
  await page.keyboard.down('y') // and in the middle of a hold
  await page.waitForTimeout(300)
  await page.reload()
  await page.keyboard.up('y')
  await live(page, r.id)
  assert.equal((await w.open(1))[0].state, 'open')
  assert.equal((await w.get(`/v1/requests/${r.id}/life`)).events.length, 1)
  await page.keyboard.press('n')
  assert.equal((await asked).body.effect, 'deny')
})
