// What holds for everybody, and an agent without a terminal: every view says so at
// once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage, w } from './stage.mjs'
import { everywhere, live } from './world.mjs'

stage()

const views = ['Queue', 'History', 'Grants', 'Sessions', 'Policy', 'Status', 'Tools']
const ended = (page) => page.locator('.ended')
const above = (page) => page.getByLabel('What holds beside the rules')
const aloud = (page, text) => page.locator('[aria-live=polite]').getByText(text).waitFor({ state: 'attached' })

// each goes from view to view, and has a look at each.
async function each(page, look) {
  for (const name of views) {
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
    if (name !== 'Queue') await page.getByRole('heading', { name, exact: true }).waitFor()
    await look(name)
  }
}

test('lock: every view says so, and what was remembered is asked about again', async () => {
  const page = await w.page()
  const asked = w.bash('git log --oneline')
  const [r] = await w.open(1)
  await live(page, r.id)
  await page.keyboard.press('s')
  await page.locator('fieldset:enabled').waitFor()
  await page.keyboard.press('Enter')
  assert.equal((await asked).body.effect, 'allow')
  assert.equal((await w.bash('git log --oneline')).body.source, 'grant')
  w.run('lock')
  const says = above(page).getByText('Locked: everything is asked or denied, and no grant counts.')
  await says.waitFor()
  await aloud(page, 'Locked: everything is asked or denied')
  await each(page, () => says.waitFor())
  await page.reload() // and whoever comes now is told, too
  await says.waitFor()
  await page.keyboard.press('1')
  const again = w.bash('git log --oneline')
  const [locked] = await w.open(1)
  await live(page, locked.id)
  await page.keyboard.press('n')
  assert.equal((await again).body.effect, 'deny')
  await everywhere(page, 'locked')
  w.run('lock', '--release')
  await says.waitFor({ state: 'detached' })
  await aloud(page, 'The lock is released.')
  assert.equal((await w.bash('git log --oneline')).body.source, 'grant')
})

test('off: every view says so, until when, and that it is over', async () => {
  const page = await w.page()
  await page.getByText('live', { exact: true }).waitFor()
  w.run('off', '--for', '10m')
  const says = above(page).getByText('sayso is off: calls go to the agents’ own prompts.')
  await says.waitFor()
  await each(page, async () => {
    await says.waitFor()
    await page.getByText(/Switched off by \w+, (10:00|9:\d\d) left/).waitFor()
  })
  w.run('off', '--end')
  await says.waitFor({ state: 'detached' })
  await aloud(page, 'sayso is on')
})

test('no terminal: what an agent without one asks for is seen on every view, and waits to be answered', async () => {
  const page = await w.page()
  await page.getByText('live', { exact: true }).waitFor()
  for (const [key, effect, code] of [['y', 'allow', 0], ['n', 'deny', 1]]) {
    const asked = w.script(`git commit -m ${key}`)
    await page.waitForFunction(() => document.title === '(1) sayso')
    assert.match(await page.locator('[aria-live=polite]').textContent(), /^New request: bash/)
    if (key === 'y') await each(page, async (name) => assert.match(await page.title(), name === 'Queue' ? /^\(1\) sayso$/ : new RegExp(`^\\(1\\) ${name}`)))
    await page.keyboard.press('1')
    await live(page)
    await page.keyboard.press(key)
    assert.deepEqual(await asked, { code, effect })
    await ended(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing waits for you.').waitFor()
  }
})
