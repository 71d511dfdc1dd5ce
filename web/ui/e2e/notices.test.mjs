// What tells of requests while nobody looks at the page, and the page as a program
// of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage, w } from './stage.mjs'
import { everywhere } from './world.mjs'

stage()

test('notices: each where it is wanted, while one looks elsewhere, and without arguments', async () => {
  const page = await w.page()
  await page.context().grantPermissions(['notifications'], { origin: w.address })
  await page.getByText('live', { exact: true }).waitFor()
  await page.evaluate(() => navigator.serviceWorker.ready)
  await page.evaluate(() => {
    window.rung = 0
    window.noticed = []
    const ring = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (...at) { window.rung++; return ring.apply(this, at) }
    const show = ServiceWorkerRegistration.prototype.showNotification
    ServiceWorkerRegistration.prototype.showNotification = function (title, notice) { window.noticed.push([title, notice.body, notice.data]); return show.call(this, title, notice) }
  })
  const elsewhere = (yes) => page.evaluate((yes) => Object.defineProperty(document, 'hidden', { configurable: true, get: () => yes }), yes)
  const told = () => page.evaluate(() => [window.rung, window.noticed])
  const ask = async (command, n) => {
    await w.bash(command, {}, { patience: 0.01 })
    const list = await w.open(n)
    await page.locator(`button[data-id="${list.at(-1).id}"]`).waitFor()
    return list.at(-1)
  }
  await elsewhere(true)
  await ask('git commit -m unasked', 1)
  assert.deepEqual(await told(), [0, []], 'nobody asked for any')
  await page.getByText('Notices', { exact: true }).click()
  await everywhere(page, 'notices')
  await elsewhere(true)
  await page.getByLabel('A sound when something comes in').check()
  await page.getByLabel('A notice on the desktop').check()
  await page.waitForFunction(() => window.rung === 2) // one hears what it is
  const r = await ask('git push origin hunter2', 2)
  await page.waitForFunction(() => window.noticed.length === 1)
  assert.deepEqual(await told(), [4, [['A request waits', 'New request: bash, dangerous, from claude-code/main.', `/r/${r.id}`]]])
  await elsewhere(false)
  await page.bringToFront()
  await ask('git commit -m seen', 3)
  assert.equal((await told())[1].length, await page.evaluate(() => (document.hasFocus() ? 1 : 2)), 'who looks needs no notice')
  // A click on the notice leads to the request.
  const [worker] = page.context().serviceWorkers()
  await worker.evaluate(async () => {
    const [notification] = await self.registration.getNotifications()
    try {
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    } catch {
      // what is not a person's click cannot be waited for
    }
  })
  await page.locator(`article[data-request="${r.id}"]`).waitFor()
  await page.reload()
  await page.getByText('Notices', { exact: true }).click()
  assert.ok(await page.getByLabel('A sound when something comes in').isChecked())
  await page.getByLabel('A notice on the desktop').uncheck()
  assert.equal(await page.evaluate(() => localStorage.getItem('sayso.desktop')), 'off')
})

test('installed: the page can be, and keeps nothing of what waits', async () => {
  const page = await w.page()
  await page.getByText('live', { exact: true }).waitFor()
  await page.evaluate(() => navigator.serviceWorker.ready)
  const bare = await page.context().newCDPSession(page)
  const { installabilityErrors } = await bare.send('Page.getInstallabilityErrors')
  assert.deepEqual(installabilityErrors.map((e) => e.errorId).filter((id) => id !== 'in-incognito'), [])
  assert.equal((await fetch(`${w.address}/manifest.webmanifest`)).headers.get('Content-Type'), 'application/manifest+json')
  assert.doesNotMatch(await (await fetch(`${w.address}/sw.js`)).text(), /fetch|caches|indexedDB/)
  assert.deepEqual(await page.evaluate(async () => [await caches.keys(), (await indexedDB.databases()).length]), [[], 0])
})
