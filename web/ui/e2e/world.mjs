// A real server with real requests, and browsers that look at it.
import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { flags } from './browser.mjs'

export const program = process.env.SAYSO_BIN
if (!program) throw new Error('SAYSO_BIN names no program; type: go test ./lab/page')

let browser
export function launch() {
  browser ??= chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags, headless: true })
  return browser
}
export const quit = async () => { await (await browser)?.close(); browser = undefined }

// inert is how long a prompt takes no answers, with a margin: see src/guard.
export const inert = 600

export class World {
  home = mkdtempSync(join(tmpdir(), 'sayso-page-'))
  listen = '127.0.0.1:0'
  flags = [] // more of them for serve
  public // the address that people type, if it is another one
  pages = []
  scripts = []
  violations = []
  foreign = []
  calls = 0
  session = 's1'

  static async start() {
    const w = new World()
    await w.serve()
    w.agent = w.token('claude', 'agent', ['--approver', 'bob'])
    w.bob = w.token('bob', 'person', [])
    return w
  }

  get env() {
    return { PATH: process.env.PATH, HOME: this.home, SAYSO_HOME: this.home, SAYSO_NOTICE: 'off', NO_COLOR: '1' }
  }
  get address() { return this.public ?? `http://${this.listen}` }

  run(...args) {
    return execFileSync(program, args, { env: this.env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }
  token(name, kind, more) {
    return JSON.parse(this.run('token', 'create', '--name', name, '--kind', kind, '--json', ...more)).token
  }
  // link is what sayso open prints.
  link() { return this.run('open').trim() }

  async serve() {
    this.server = spawn(program, ['serve', '--listen', this.listen, ...this.flags], { env: this.env, stdio: ['ignore', 'ignore', 'pipe'] })
    await new Promise((resolve, reject) => {
      let said = ''
      this.server.on('exit', (code) => reject(new Error(`serve ended with ${code}: ${said}`)))
      this.server.stderr.on('data', (text) => {
        said += text
        const at = /listening on ([^/\s]+:\d+)\n/.exec(said)
        if (at) { this.listen = at[1]; resolve() }
      })
    })
    this.server.removeAllListeners('exit')
  }
  async halt() {
    if (this.server.exitCode !== null) return
    const ended = new Promise((resolve) => this.server.once('exit', resolve))
    this.server.kill('SIGTERM')
    await ended
  }
  // clear takes away what one test left for the next, and gives what was noted.
  async clear() {
    for (const c of this.pages.splice(0)) await c.close()
    for (const c of this.scripts.splice(0)) c.kill()
    const { requests } = await this.get('/v1/requests')
    await Promise.all(requests.map((r) => this.post(`/v1/requests/${r.id}/withdraw`, { reason: 'the test ended' })))
    this.session = `t${this.calls}` // what was allowed and did not run is not taken up by the next
    return [this.violations.splice(0), this.foreign.splice(0)]
  }
  async end() {
    for (const c of this.pages) await c.close()
    for (const c of this.scripts) c.kill()
    await this.halt()
    rmSync(this.home, { recursive: true, force: true })
  }

  // ask makes a call as an agent does, and gives the decision when there is one.
  // Under the name shown it says what people are to be shown.
  async ask(call, { shown, patience = 120, canEdit = false, facts } = {}) {
    const body = {
      call: { host: 'claude-code', session: this.session, call_id: `toolu_${++this.calls}`, cwd: '/home/dev/app', caller: 'claude-code/main', ...call },
      patience_s: patience, can_edit: canEdit, facts, ...(shown ? { presentation: 'later' } : {}),
    }
    let answer = await this.post('/v1/admissions', body)
    if (answer.status === 428 && shown) answer = await this.post(`/v1/requests/${answer.body.ticket}/presentation`, shown)
    return answer
  }
  // script asks as a program of this machine does that has no terminal, and gives
  // what it was told.
  async script(command) {
    const asking = spawn(program, ['ask'], { env: this.env, stdio: ['pipe', 'pipe', 'ignore'] })
    this.scripts.push(asking)
    asking.stdin.end(JSON.stringify({ tool: 'bash', args: { command }, session: this.session, call_id: command }))
    let out = ''
    asking.stdout.on('data', (text) => (out += text))
    const [code] = await once(asking, 'close')
    return { code, effect: JSON.parse(out).effect }
  }
  async post(path, body, secret = this.agent) {
    const r = await fetch(this.address + path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` } })
    const text = await r.text()
    return { status: r.status, body: text ? JSON.parse(text) : null, text }
  }
  async get(path, secret = this.bob) {
    return (await fetch(this.address + path, { headers: { Authorization: `Bearer ${secret}` } })).json()
  }
  bash(command, more = {}, options = {}) {
    return this.ask({ tool: 'Bash', args: { command }, ...more }, options)
  }
  // open waits until so many requests are open, and lists them.
  async open(n) {
    for (let i = 0; ; i++) {
      const { requests } = await this.get('/v1/requests')
      if (requests.length === n) return requests
      if (i > 200) throw new Error(`${requests.length} requests are open, not ${n}`)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  // page opens a tab in a browser of its own.
  async page({ path = '', width = 1280, height = 860, theme = 'light', secret, device = {} } = {}) {
    const context = await (await launch()).newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce', ignoreHTTPSErrors: Boolean(this.public), ...device })
    this.pages.push(context)
    await context.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.log(`CSP: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`)))
    const shown = secret ?? (path ? undefined : this.mine)
    if (shown) await context.addInitScript((s) => sessionStorage.setItem('sayso.token', s), shown)
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    page.on('console', (m) => { if (/CSP|Content Security Policy|TrustedHTML|TrustedScript/.test(m.text())) this.violations.push(m.text()) })
    page.on('pageerror', (e) => this.violations.push(`error: ${e.stack ?? e}`))
    page.on('request', (r) => { if (!r.url().startsWith(this.address) && !r.url().startsWith('data:')) this.foreign.push(r.url()) })
    await page.goto(path ? this.address + path : shown ? this.address : this.link())
    if (!shown && !path) {
      await page.getByText('live', { exact: true }).waitFor()
      this.mine = await page.evaluate(() => sessionStorage.getItem('sayso.token'))
    }
    return page
  }
}

// live waits until the request on the screen takes answers.
export async function live(page, id) {
  if (id) await page.locator(`article[data-request="${id}"]`).waitFor()
  await page.locator('section[aria-label="Answer"]:not(.inert)').waitFor()
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// axe lists what is wrong for those who do not see or do not point; with colours
// only what is wrong with those. Nothing that it looks at is loaded beforehand: no
// rule that is on wants that.
export async function axe(page, colours = false) {
  if (!(await page.evaluate(() => 'axe' in window))) {
    const bare = await page.context().newCDPSession(page)
    await bare.send('Page.setBypassCSP', { enabled: true })
    await bare.send('Runtime.evaluate', { expression: axeSource })
    await bare.send('Page.setBypassCSP', { enabled: false })
    await bare.detach()
  }
  const { violations } = await page.evaluate((colours) => window.axe.run(document, { resultTypes: ['violations'], preload: false, ...(colours ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}) }), colours)
  return violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target} ${n.failureSummary?.split('\n')[1] ?? ''}`).slice(0, 3).join('; ')}`)
}

// everywhere looks at a page in both themes, at a desk and on a phone: nothing
// sticks out, and axe finds nothing. A theme changes colours and nothing else, so
// the second is looked at for those alone. With SHOTS it leaves pictures there.
export async function everywhere(page, what) {
  const before = page.viewportSize()
  const wrong = []
  for (const [theme, width, height] of [['light', 1280, 860], ['dark', 1280, 860], ['dark', 390, 844], ['light', 390, 844]]) {
    await page.emulateMedia({ colorScheme: theme })
    await page.setViewportSize({ width, height })
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${what.replaceAll(' ', '-')}-${theme}-${width}.png` })
    for (const v of await axe(page, theme === 'dark')) wrong.push(`${what}, ${theme}, ${width}: ${v}`)
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong.push(`${what}, ${width}: something sticks out`)
    if (await page.evaluate(() => document.documentElement.scrollHeight > innerHeight)) wrong.push(`${what}, ${width}: the page scrolls beside what scrolls in it`)
    if (await page.evaluate(() => [...document.querySelectorAll('.views a')].some((a) => a.getBoundingClientRect().right > a.parentElement.getBoundingClientRect().right + 1))) wrong.push(`${what}, ${width}: a view cannot be reached`)
  }
  await page.setViewportSize(before)
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}
