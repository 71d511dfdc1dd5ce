// The views beside the queue, over a real server with a real log.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as payload from './payloads.mjs'
import { stage, w } from './stage.mjs'
import { everywhere, live } from './world.mjs'

stage()

const button = (page, name) => page.getByRole('button', { name })
const goTo = (page, name) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()

// remember makes a call that is answered for the session, and gives its request.
async function remember(command, more = {}) {
  const asked = w.bash(command)
  const [r] = await w.open(1)
  await w.get(`/v1/requests/${r.id}/content`)
  const answer = await w.post(`/v1/requests/${r.id}/answer`, { digest: r.digest, content: r.content, effect: 'allow', scope: 'session', cover: 'call', ...more }, w.bob)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await asked
  return r
}

test('views: by link, by key, by address and back again', async () => {
  const page = await w.page()
  await page.getByText('live', { exact: true }).waitFor()
  w.bash('git commit -m one')
  const [r] = await w.open(1)
  await live(page, r.id)
  await goTo(page, 'Grants')
  await page.getByRole('heading', { name: 'Grants' }).waitFor()
  assert.equal(await page.title(), '(1) Grants · sayso')
  assert.equal(await page.getByRole('link', { name: 'Grants' }).getAttribute('aria-current'), 'page')
  for (const key of ['y', 'n', 'Escape']) await page.keyboard.press(key)
  await page.keyboard.press('1')
  await live(page, r.id) // and no key was an answer meanwhile
  await page.goBack()
  await page.getByRole('heading', { name: 'Grants' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Grants' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await w.open(1)
})

test('grants: what is remembered is seen as it comes, and revoked after one question', async () => {
  const page = await w.page({ path: '/grants', secret: w.bob })
  await page.getByText('Nothing is remembered.').waitFor()
  const r = await remember('git log --oneline', { for: '2h', uses: 3 })
  const grant = page.locator('.card')
  await grant.getByText('3 of 3 uses left').waitFor()
  await grant.getByText('git log --oneline').waitFor()
  const text = await grant.innerText()
  for (const part of [r.covers[0].label, 'bash', r.session_id, 'given by bob']) assert.ok(text.includes(part), `${part} in ${text}`)
  assert.match(text, /(2 h 00|1 h 59) left/)
  const again = await w.bash('git log --oneline')
  assert.equal(again.body.source, 'grant')
  await grant.getByText('2 of 3 uses left').waitFor()
  await everywhere(page, 'grants')
  await button(page, 'Revoke: ').click()
  await button(page, 'Keep it').click()
  assert.equal((await w.get('/v1/grants')).grants.length, 1)
  await button(page, 'Revoke: ').click()
  await button(page, 'Revoke it').click()
  await page.getByText('Nothing is remembered.').waitFor()
  assert.equal((await w.get('/v1/grants')).grants.length, 0)
  await page.getByLabel('ended ones too').check()
  await grant.getByText('ended: revoked').waitFor()
})

const rows = (page) => page.locator('.rows a')

// answered makes a call that bob answers, and gives its request.
async function answered(command, effect, more = {}, call = {}) {
  const asked = w.bash(command, call)
  const [r] = await w.open(1)
  await w.get(`/v1/requests/${r.id}/content`)
  const answer = await w.post(`/v1/requests/${r.id}/answer`, { digest: r.digest, content: r.content, effect, ...more }, w.bob)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await asked
  return r
}

test('history: found by words, outcome, who and why; live; exported whole', async () => {
  const session = 'history'
  const one = await answered('git commit -m first', 'deny', { note: 'not on a Friday' }, { session })
  const two = await answered('git commit -m second', 'allow', {}, { session })
  const page = await w.page({ path: '/history?session=history', secret: w.bob })
  await rows(page).nth(1).waitFor()
  assert.deepEqual(await rows(page).evaluateAll((all) => all.map((a) => a.id)), [`h-${two.id}`, `h-${one.id}`])
  await page.getByLabel('Search').fill('FRIDAY commit')
  await rows(page).nth(1).waitFor({ state: 'detached' })
  assert.match(await rows(page).textContent(), /git commit -m first[^]*denied[^]*bob/)
  assert.match(page.url(), /text=FRIDAY/)
  await page.reload()
  assert.equal(await page.getByLabel('Search').inputValue(), 'FRIDAY commit')
  await page.getByLabel('Search').fill('')
  for (const [label, value, want] of [['Came out as', 'allowed', two], ['Came out as', 'denied', one]]) {
    await page.getByLabel(label).selectOption(value)
    await page.locator(`#h-${want.id}`).waitFor()
    await rows(page).nth(1).waitFor({ state: 'detached' })
  }
  await page.getByLabel('Came out as').selectOption('')
  await page.getByLabel('Decided by').selectOption('grant')
  await page.getByText('Nothing matches.').waitFor()
  await page.getByLabel('Decided by').selectOption('person')
  await rows(page).nth(1).waitFor()
  await page.getByText('More: 1 set').click()
  await page.getByLabel('Answered by').fill('nobody')
  await page.getByText('Nothing matches.').waitFor()
  await page.getByLabel('Answered by').fill('bob')
  await rows(page).nth(1).waitFor()
  await page.getByLabel('Decided by').selectOption('')
  await page.getByLabel('Answered by').fill('')
  await rows(page).nth(1).waitFor()

  await page.route('**/v1/history?*', async (route) => { // its clock was behind when it was asked
    const response = await route.fetch()
    const json = await response.json()
    json.requests[0].created_at = '2020-01-01T00:00:00Z'
    await route.fulfill({ response, json })
  }, { times: 1 })
  const asked = w.bash('git commit -m third', { session })
  const [three] = await w.open(1)
  await page.locator(`#h-${three.id}`).getByText('open').waitFor()
  assert.equal(await rows(page).first().getAttribute('id'), `h-${three.id}`)
  await w.post(`/v1/requests/${three.id}/answer`, { digest: three.digest, content: three.content, effect: 'deny' }, w.bob)
  await asked
  await page.locator(`#h-${three.id}`).getByText('denied').waitFor()
  await rows(page).first().hover() // and now nothing may move
  const four = await answered('git commit -m fourth', 'deny', {}, { session })
  await button(page, '1 newer request: show').waitFor()
  assert.equal(await rows(page).first().getAttribute('id'), `h-${three.id}`)
  await page.mouse.move(900, 400)
  await button(page, '1 newer request: show').waitFor({ state: 'detached' })
  assert.equal(await rows(page).first().getAttribute('id'), `h-${four.id}`)

  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()])
  const lines = readFileSync(await download.path(), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line))
  assert.deepEqual(lines.map((r) => r.id), [four, three, two, one].map((r) => r.id))
  assert.match(download.suggestedFilename(), /^sayso-history-.*\.jsonl$/)
  await page.getByText('4 requests exported.').waitFor()
  await everywhere(page, 'history')
})

test('a life: what became of a request, step by step, and what was decided on like calls', async () => {
  const session = 'life'
  const before = await answered('git push --tags', 'deny', { note: 'tags are for releases' }, { session })
  await w.bash('git push origin main', { session, said: { description: 'push it' } }, { patience: 0.05 })
  const [r] = await w.open(1)
  const page = await w.page()
  await live(page, r.id)
  const like = page.locator('.like')
  await like.getByText('git push --tags').waitFor()
  assert.match(await like.innerText(), /denied[^]*by bob[^]*tags are for releases/)
  await page.getByRole('link', { name: 'All that became of it' }).click()
  const life = page.locator('.life')
  await life.getByText('It still waits.').waitFor()
  assert.equal(new URL(page.url()).pathname, `/history/${r.id}`)
  const again = w.bash('git push origin main', { session })
  await life.getByText('The agent asked again').waitFor()
  await life.getByRole('link', { name: 'Answer it' }).click()
  await live(page, r.id)
  await page.keyboard.press('n')
  await again
  await page.goBack()
  await life.locator('li').getByText('Denied').waitFor()
  const steps = await life.locator('li > p:not(.more)').allTextContents()
  assert.deepEqual(steps.map((s) => s.replace(/\s·.*/, '')), ['The agent asked', 'The agent stopped waiting', 'The agent asked again', 'Answered no', 'Denied'])
  assert.match(steps[3], /person|admin/)
  assert.match(steps[3], /on the page/)
  await button(page, 'In full').click()
  await life.getByRole('figure').waitFor()
  await everywhere(page, 'life')
  await page.keyboard.press('Escape')
  await page.locator(`#h-${before.id}`).waitFor()
  assert.equal(new URL(page.url()).pathname, '/history')
  await page.keyboard.press('j')
  await page.locator('.rows a[aria-current]').waitFor()
})

test('history: of thousands, so many are listed as one looks at, whatever comes meanwhile', async () => {
  const policy = join(w.home, 'policy.yaml')
  writeFileSync(policy, 'version: 1\nrules:\n  - deny: "bash:rm*"\n', { mode: 0o600 })
  const removed = (what) => w.bash(`rm -r ${what}`, { session: 'many' }, { patience: 0.01 })
  try {
    while ((await removed('first')).body.effect !== 'deny'); // the policy is read soon
    const page = await w.page({ path: '/history?session=many', secret: w.bob })
    await rows(page).first().waitFor()
    await page.evaluate(watchReads)
    let left = Number(process.env.ENDED || 1000)
    await Promise.all(Array.from({ length: 32 }, async () => { while (left-- > 0) await removed(left) }))

    const { requests } = await w.get('/v1/history?session=many&limit=700')
    const ids = requests.map((r) => `h-${r.id}`)
    const listed = (from, to) => page.waitForFunction((ids) => ids.every((id, i) => document.querySelectorAll('.rows a')[i]?.id === id), ids.slice(from, to))
    const full = page.getByText('300 are listed.')
    const toItsEnd = async () => {
      while (!(await full.isVisible())) await page.locator('.rows').evaluate((e) => { e.scrollTop = e.scrollHeight })
    }
    await listed(0, 100)
    await toItsEnd()
    await listed(0, 300)
    await button(page, 'Go on with older ones').click()
    await listed(300, 400)
    await toItsEnd()
    await listed(300, 600)
    await removed('last')
    await button(page, 'Back to the newest').click()
    await rows(page).first().getByText('rm -r last').waitFor()
    const [most, reads] = await page.evaluate(() => [window.rows, window.most])
    assert.ok(most <= 300 && reads <= 10, `${most} rows, ${reads} questions at once`)
  } finally {
    rmSync(policy)
    while ((await removed('again')).body.effect === 'deny'); // and soon no more
  }
})

// watchReads counts, within the page, the rows of the history and the questions
// that are asked at once, at most.
function watchReads() {
  let reads = 0
  ;[window.rows, window.most] = [0, 0]
  const real = window.fetch
  window.fetch = (at, how) => {
    const answer = real(at, how)
    if (!/^\/v1\/(history|requests\/)/.test(String(at))) return answer
    window.most = Math.max(window.most, ++reads)
    return answer.finally(() => reads--)
  }
  const count = () => {
    window.rows = Math.max(window.rows, document.querySelectorAll('.rows a').length)
    requestAnimationFrame(count)
  }
  count()
}

test('history: what somebody means harm with stays text', async () => {
  for (const [call, options] of payload.hostile) await w.ask(call, { ...options, patience: 0.01 })
  const list = await w.open(payload.hostile.length)
  const page = await w.page({ path: '/history' , secret: w.bob })
  await rows(page).nth(list.length - 1).waitFor()
  for (const r of list) {
    await page.locator(`#h-${r.id}`).click()
    await page.locator(`.life article[data-request="${r.id}"]`).waitFor()
    const text = await page.locator('body').innerText()
    const raw = /.{0,20}[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff].{0,20}/u.exec(text)
    assert.equal(raw && JSON.stringify(raw[0]), null, 'what deceives is spelled out')
    assert.equal(await page.evaluate(() => document.querySelectorAll('.life script, .life img, .life iframe').length), 0)
  }
  assert.equal(await page.evaluate(() => 'pwned' in window), false)
})

test('sessions: whose they are, what they asked for, and what their tools may do', async () => {
  const session = 'odd/name ü'
  await w.bash('git commit -m one', { session }, { patience: 0.01 })
  const page = await w.page({ path: '/sessions', secret: w.bob })
  const card = page.locator('.card', { hasText: session })
  await card.getByText('1 open').waitFor()
  for (const part of ['app', 'claude-code/main', '1 call, 1 asked', 'bob']) assert.ok((await card.innerText()).includes(part), part)
  await everywhere(page, 'sessions')
  await card.getByRole('link').click()
  await page.getByText('None: the policy alone decides.').waitFor()
  await page.reload() // the name stands in the address as it is
  await page.getByLabel('Another tool').fill('bash')
  await page.keyboard.press('Enter')
  await page.getByLabel('bash in this session').selectOption('deny')
  await page.getByText('bash: deny, in this session.').waitFor()
  assert.deepEqual(await w.get(`/v1/sessions/${encodeURIComponent(session)}/policies`), { policies: { bash: 'deny' } })
  const denied = await w.bash('git commit -m two', { session })
  assert.equal(denied.body.effect, 'deny')
  await page.getByText('2 in the last week').waitFor()
  await everywhere(page, 'session')
  await button(page, 'Take back: bash').click()
  await page.getByText('None: the policy alone decides.').waitFor()
  assert.deepEqual(await w.get(`/v1/sessions/${encodeURIComponent(session)}/policies`), { policies: {} })
})

test('mode: a person changes that of a session, an admin that of all, and every page tells of it', async () => {
  const bobs = await w.page({ path: '/sessions', secret: w.bob })
  const mine = await w.page()
  const form = bobs.getByRole('form', { name: 'Mode' })
  const set = async (page, mode, lasts, then) => {
    const form = page.getByRole('form', { name: 'Mode' })
    await form.getByLabel('Change the mode to').selectOption(mode)
    if (lasts) await form.getByLabel('For how long').selectOption(lasts)
    await form.getByRole('button', { name: then }).click()
  }
  await form.getByText('People are asked.').waitFor()
  await set(bobs, 'strict', '', 'Change it')
  await form.getByText('takes an admin').waitFor()
  await form.getByLabel('Change the mode to').selectOption('approve_all')
  assert.ok(await form.getByRole('button', { name: 'Allow without asking' }).isDisabled(), 'it must have an end')

  await w.bash('git commit -m one', { session: 'm1' }, { patience: 0.01 })
  await bobs.locator('.card', { hasText: 'm1' }).getByRole('link').click()
  await set(bobs, 'strict', '', 'Change it')
  await form.getByText('Whatever would be asked is denied.').waitFor()
  assert.equal((await w.bash('git commit -m two', { session: 'm1' })).body.source, 'mode')

  const boss = await w.page({ path: '/sessions', secret: w.token('boss', 'admin', []) })
  await set(boss, 'approve_all', '30m', 'Allow without asking')
  for (const page of [boss, bobs, mine]) await page.getByText(/It ends in (30:00|29:\d\d)/).waitFor()
  await everywhere(boss, 'mode')
  assert.equal((await w.bash('git commit -m three', { session: 'm2' })).body.source, 'mode')
  await set(boss, 'interactive', '', 'Change it')
  for (const page of [boss, bobs, mine]) await page.getByText('It ends in').waitFor({ state: 'detached' })
})
