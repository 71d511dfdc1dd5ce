// The views beside the queue, over a real server with a real log.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, test } from 'node:test'
import * as payload from './payloads.mjs'
import { everywhere, live, quit, World } from './world.mjs'

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
