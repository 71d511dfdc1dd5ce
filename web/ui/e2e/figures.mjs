// How fast the page is where thousands wait and much happens: what go run
// ./bench -run page prints. Its task and what it tells are lines of JSON.
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { flags } from './browser.mjs'

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const task = JSON.parse((await lines.next()).value)
const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`)

const browser = await chromium.launch({ executablePath: task.browser, args: flags, headless: true })
const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage()
page.setDefaultTimeout(60_000)
await page.addInitScript((token) => sessionStorage.setItem('sayso.token', token), task.at.person)
await page.goto(task.at.http)
await page.getByText(`${task.waiting.toLocaleString('en')} requests wait`).waitFor()
tell({})

// Rows are counted in each frame from here on.
await page.evaluate(() => {
  window.rows = 0
  const count = () => {
    window.rows = Math.max(window.rows, document.querySelectorAll('.row').length)
    requestAnimationFrame(count)
  }
  count()
})

// frames scrolls the list up and down in every frame and tells how far apart they are.
const frames = () => page.evaluate((seconds) => new Promise((done) => {
  const list = document.querySelector('.list')
  const long = list.scrollHeight - list.clientHeight
  const apart = []
  const began = performance.now()
  let [last, at, by] = [began, 0, 137]
  requestAnimationFrame(function next(now) {
    apart.push(now - last)
    last = now
    at += by
    if (at <= 0 || at >= long) by = -by
    list.scrollTop = at
    if (now - began < 1000 * seconds) requestAnimationFrame(next)
    else done(apart.slice(1))
  })
}), task.seconds)

// wheel is the same with a wheel, the pointer over the list.
async function wheel() {
  await page.mouse.move(200, 400)
  await page.evaluate(() => {
    window.apart = []
    let last = performance.now()
    requestAnimationFrame(function next(now) {
      window.apart.push(now - last)
      last = now
      if (!window.over) requestAnimationFrame(next)
    })
  })
  const ends = Date.now() + 1000 * task.seconds
  for (let i = 0; Date.now() < ends; i++) await page.mouse.wheel(0, i % 60 < 30 ? 400 : -380)
  return page.evaluate(() => { window.over = true; return window.apart.slice(1) })
}

// typed is how long each key in the filter takes until what it left is drawn.
async function typed() {
  await page.mouse.move(900, 400)
  await page.evaluate(() => {
    window.took = []
    document.getElementById('filter').addEventListener('input', (e) => {
      requestAnimationFrame(() => setTimeout(() => window.took.push(performance.now() - e.timeStamp)))
    })
  })
  const field = page.locator('#filter')
  for (const word of ['npm 77', 'push 3', 'docs3 what', 'reviewer part1'].slice(0, task.seconds)) {
    await field.focus()
    for (const key of [...word, ...word].map((c, i) => (i < word.length ? c : 'Backspace'))) {
      const n = await page.evaluate(() => window.took.length)
      await page.keyboard.press(key === ' ' ? 'Space' : key)
      await page.waitForFunction((n) => window.took.length > n, n)
    }
  }
  return page.evaluate(() => window.took)
}

// arrivals is how long what is asked for takes to be seen.
async function arrivals() {
  await page.locator('#filter').fill('commit at-')
  await page.waitForFunction(() => document.querySelectorAll('button.item').length > 5)
  await page.evaluate(() => {
    window.arrived = []
    const seen = new Set([...document.querySelectorAll('button.item')].map((e) => e.dataset.id))
    const look = () => {
      for (const e of document.querySelectorAll('button.item')) {
        const at = /at-(\d+)/.exec(e.textContent)
        if (!at || seen.has(e.dataset.id)) continue
        seen.add(e.dataset.id)
        setTimeout(() => window.arrived.push(Date.now() - Number(at[1]))) // when the frame is drawn
      }
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
  await page.waitForTimeout(1000 * task.seconds)
  await page.waitForFunction(() => window.arrived.length > 2)
  return page.evaluate(() => window.arrived)
}

const assets = new URL('../../dist/page/assets/', import.meta.url)
const opened = readFileSync(new URL('../index.html', assets), 'utf8') // the views are loaded where somebody goes
const scripts = readdirSync(assets).filter((name) => name.endsWith('.js') && opened.includes(name))
tell({
  frames: await frames(), wheel: await wheel(), filter: await typed(), arrive: await arrivals(),
  rows: await page.evaluate(() => window.rows),
  scripts: scripts.reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, assets))).length, 0),
})
await lines.next() // until it is told to end
await browser.close()
process.exit(0)
