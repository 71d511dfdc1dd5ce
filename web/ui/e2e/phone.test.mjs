// From a phone: the server is reached by TLS under a name, and the code that the
// terminal draws lets a second browser in.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { readQR } from './qr.mjs'
import { axe, live, program, quit, World } from './world.mjs'

const { SAYSO_CERT, SAYSO_KEY } = process.env

// freePort is a port that nobody listens on: the address that people type names it.
const freePort = () => new Promise((resolve) => {
  const s = createServer().listen(0, () => { const { port } = s.address(); s.close(() => resolve(port)) })
})

let w
before(async () => {
  assert.ok(SAYSO_CERT && SAYSO_KEY, 'a certificate for box.test is wanted; type: go test ./lab/page')
  const port = await freePort()
  w = new World()
  w.public = `https://box.test:${port}`
  w.flags = ['--public-url', w.public, '--tls-cert', SAYSO_CERT, '--tls-key', SAYSO_KEY]
  w.listen = `0.0.0.0:${port}`
  await w.serve()
})
after(async () => {
  await w.end()
  await quit()
})

// scan has the terminal draw a code and reads it.
function scan(...more) {
  const { stdout, stderr, status } = spawnSync(program, ['open', '--qr', ...more], { env: w.env, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const link = readQR(stderr)
  assert.equal(link, stdout.trim())
  assert.ok(link.startsWith(`${w.public}/#`))
  return link.slice(w.public.length)
}
const phone = (path) => w.page({ path, width: 390, height: 844, device: { isMobile: true, hasTouch: true, deviceScaleFactor: 2, userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1' } })
const devices = () => JSON.parse(w.run('token', 'list', '--json')).filter((t) => t.device)
const signIn = (page) => page.getByRole('heading', { name: 'sayso' }).waitFor()

test('phone: the code of the terminal lets it in, and it decides', async () => {
  const desk = await w.page()
  const path = scan('--device', 'ana-phone')
  const page = await phone(path)
  await page.getByText('live', { exact: true }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the code does not stay in the address')
  const asked = w.script('git commit -m phone')
  await page.locator('button.item').first().tap()
  await live(page)
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
  assert.deepEqual(await axe(page), [])
  await page.getByRole('button', { name: 'Allow once' }).tap()
  assert.equal((await asked).effect, 'allow')
  await page.locator('.ended').getByText('Allowed by you').waitFor()
  await desk.locator('.ended').getByText(/^Allowed by/).waitFor()

  const used = await phone(path)
  await used.getByRole('alert').getByText('This code is not good any more').waitFor()
  assert.deepEqual([w.violations, w.foreign], [[], []])
})

test('phone: it is listed by its name with its last use, and put out', async () => {
  const page = await phone(scan())
  await page.getByText('live', { exact: true }).waitFor()
  const own = devices().find((t) => t.device === 'Safari on iPhone')
  assert.ok(Date.now() - Date.parse(own.used_at) < 10 * 60_000, JSON.stringify(own))
  assert.ok(devices().some((t) => t.device === 'ana-phone'))
  assert.match(w.run('token', 'list'), /Safari on iPhone +\d+s ago/)
  w.run('token', 'revoke', own.id)
  await page.reload()
  await signIn(page)
  assert.equal(devices().some((t) => t.device === 'Safari on iPhone'), false)
})

test('phone: no code is drawn for an address that no phone reaches', async () => {
  const near = new World()
  await near.serve()
  const { status, stderr } = spawnSync(program, ['open', '--qr'], { env: near.env, encoding: 'utf8' })
  await near.end()
  assert.equal(status, 2)
  assert.match(stderr, /no phone reaches http:\/\/127\.0\.0\.1:\d+, which is this machine's own\n.*hint: sayso serve --public-url/)
})
