// The views beside the queue, over a real server with a real log.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
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
