// How the page looks, to whoever looks at it or does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage, w } from './stage.mjs'
import { axe, everywhere, live } from './world.mjs'
import * as payload from './payloads.mjs'

stage()

const button = (page, name) => page.getByRole('button', { name })
const ended = (page) => page.locator('.ended')
const items = (page) => page.locator('button.item')

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
  assert.equal(await items(page).count(), 3)
  await w.open(3) // nothing of all this was an answer
  w.ask({ tool: 'Write', args: { file_path: '/home/dev/app/long', content: 'a\n'.repeat(400) } })
  const long = (await w.open(4)).find((r) => r.kind === 'write')
  await page.locator(`button[data-id="${long.id}"]`).waitFor()
  for (let i = 0; i < 4 && (await at()) !== long.id; i++) await page.keyboard.press('j')
  await live(page, long.id)
  await page.keyboard.press('Space')
  assert.ok(await page.locator('article').evaluate((e) => e.scrollTop > 100), 'the request scrolls')
  const outlines = []
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab')
    outlines.push(await page.evaluate(() => { const s = getComputedStyle(document.activeElement); return document.activeElement === document.body || (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) }))
  }
  assert.ok(outlines.every(Boolean), 'what has the focus shows it')
  assert.ok(list.length === 3)
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
    assert.equal(await page.evaluate(() => document.querySelectorAll('article script, article img, article iframe, article a:not([href^="/history/"])').length), 0)
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

test('a server’s tool: its row says which, parked too, and its arguments are shown once', async () => {
  const args = { owner: 'acme', repo: 'shop', path: 'docs/guide.md', size: 1.5 }
  const shown = { type: 'structured', content: '{"owner": "acme", "repo": "shop", "path": "docs/guide.md", "size": 1.5}' }
  w.ask({ tool: 'create_or_update_file', server: 'github-enterprise', args }, { patience: 0.05, shown })
  w.ask({ tool: 'create_file', server: 'github', args }, { patience: 0.05, shown: { ...shown, content: '{"path": "docs/guide.md"}' } })
  const list = await w.open(2)
  const page = await w.page()
  const [long, short] = ['create_or_update_file', 'create_file'].map((tool) => list.find((r) => r.tool === tool))
  for (const [r, least, words] of [[long, 100, ''], [short, 0, 'github › create_file']]) {
    const row = page.locator(`button[data-id="${r.id}"]`)
    await row.getByText('parked').waitFor()
    if (words) assert.equal(await row.locator('.whose').textContent(), words)
    else for (const part of ['.server', '.tool']) assert.ok((await row.locator(part).boundingBox()).width > 60, `${part} cannot be read`)
    const sides = await row.locator('.tool').evaluate((e) => [e.scrollWidth, e.clientWidth])
    assert.ok(sides[1] > least && (least || sides[0] <= sides[1]), `the tool has ${sides}`)
  }
  for (const [r, times] of [[long, 1], [short, 2]]) {
    await page.locator(`button[data-id="${r.id}"]`).click()
    await live(page, r.id)
    assert.equal(await page.locator('article').getByText('docs/guide.md').count(), times)
  }
})

test('the bar of a phone has one line, whatever it says', async () => {
  const page = await w.page({ width: 360 })
  await page.getByText('live', { exact: true }).waitFor()
  const lines = () => page.locator('header').first().evaluate((bar) => {
    const [first, last] = [bar.querySelector('.brand'), [...bar.querySelectorAll('button')].at(-1)].map((e) => e.getBoundingClientRect())
    return Math.abs(first.top + first.height / 2 - last.top - last.height / 2) < 4
  })
  assert.ok(await lines())
  await page.evaluate(() => { document.querySelector('.line').lastChild.textContent = 'connection lost' })
  assert.ok(await lines())
  assert.equal(await page.getByRole('button', { name: 'Sign out' }).evaluate((b) => b.getClientRects().length), 1)
})

test('earlier decisions stand below each other, however long a call is', async () => {
  const answered = async (command, note) => {
    const asked = w.bash(command)
    const [{ id }] = await w.open(1)
    const { digest, content } = await w.get(`/v1/requests/${id}`)
    await w.post(`/v1/requests/${id}/answer`, { effect: note ? 'deny' : 'allow', digest, content, note }, w.bob)
    await asked
  }
  await answered('npm install', '')
  await answered('npm install left-pad', 'no new packages')
  await answered(`npm run build -- ${'--minify '.repeat(30)}`, '')
  w.bash('npm install eslint')
  const [r] = await w.open(1)
  const page = await w.page()
  await live(page, r.id)
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 })
    const rows = page.locator('.like li')
    await rows.nth(2).waitFor()
    for (const part of ['a', 'span:last-child']) {
      const lefts = await page.locator(`.like li > ${part}`).evaluateAll((list) => list.map((e) => Math.round(e.getBoundingClientRect().left)))
      assert.equal(new Set(lefts).size, 1, `${width}: ${part} begins at ${lefts}`)
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
  }
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
  // The story of how a batch looks has all of them in both themes, at a desk and on a phone.
  for (const [n, [theme, width]] of [['light', 1280], ['dark', 390]].entries()) {
    const page = await w.page({ theme, width, height: 1500 })
    await page.getByText('live', { exact: true }).waitFor()
    if (width === 390) await look(page, `${theme} queue`)
    for (const r of list.filter((_, i) => i % 2 === n)) {
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

test('states of a request: edited, cut off, back again, ended', async () => {
  const page = await w.page()
  w.bash('git push origin main', {}, { canEdit: true })
  const [r] = await w.open(1)
  await live(page, r.id)
  await page.keyboard.press('e')
  await page.getByLabel('All arguments, as JSON').fill('{"command":"git push origin topic"}')
  await button(page, 'Look at the change').click()
  await page.getByText('The policy, asked about the changed call').waitFor()
  await everywhere(page, 'edit')
  await page.route('**/v1/events*', (route) => route.abort())
  await w.halt()
  await page.getByText('Connection lost.').waitFor()
  await page.keyboard.press('Escape') // what was typed outlives the editor
  await everywhere(page, 'lost')
  await w.serve()
  await page.unroute('**/v1/events*')
  await page.getByRole('banner').getByText('Connected again.').waitFor()
  await everywhere(page, 'back again')
  await live(page, r.id)
  await page.keyboard.press('e')
  assert.equal(await page.getByLabel('All arguments, as JSON').inputValue(), '{"command":"git push origin topic"}')
  await button(page, 'As the agent wrote it').click()
  assert.match(await page.getByLabel('All arguments, as JSON').inputValue(), /git push origin main/)
  await page.keyboard.press('Escape')
  await w.post(`/v1/requests/${r.id}/withdraw`, { reason: 'the turn was cancelled' })
  await ended(page).getByText('Withdrawn by the agent').waitFor()
  await everywhere(page, 'ended')
})

test('what comes in is said aloud', async () => {
  const page = await w.page()
  await page.getByText('live', { exact: true }).waitFor()
  w.bash('git push origin main')
  await w.open(1)
  const said = page.locator('[aria-live=polite]')
  await said.getByText('New request: bash').waitFor({ state: 'attached' })
  assert.equal(await said.textContent(), 'New request: bash, dangerous, from claude-code/main.')
  // The same words are heard again only where the text changes.
  w.bash('git push origin topic')
  await page.waitForFunction(() => document.querySelector('[aria-live=polite]').textContent.endsWith('main.\u00a0'))
})
