// Keys around the moment in which a prompt is drawn, replaced or moved: none that
// was on its way before it was live is an answer. ROUNDS says how many rounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage, w } from './stage.mjs'
import { inert, live, World } from './world.mjs'

stage()

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(ms, 0)))

// watch notes, within the page and without asking it: since when the prompt that
// is on the screen has been drawn as it is, each key, and each answer with the
// key that came last before it.
const watch = () => {
  const drawn = { what: '', at: Infinity }
  window.answers = []
  let key = null
  const look = () => {
    const now = [document.querySelector('article')?.dataset.request, !!document.querySelector('section[aria-label="Answer"]'), document.querySelector('form, section[aria-label="Edit the arguments"]')?.ariaLabel].join()
    if (now !== drawn.what) [drawn.what, drawn.at] = [now, performance.now()]
  }
  const frame = () => { look(); requestAnimationFrame(frame) }
  frame()
  addEventListener('keydown', (e) => { look(); key = { key: e.key, at: e.timeStamp, drawn: drawn.at, heard: performance.now() } }, true)
  const real = window.fetch
  window.fetch = (at, how) => {
    const id = /\/requests\/(\w+)\/answer$/.exec(String(at))?.[1]
    if (id) window.answers.push({ id, ...key, shown: document.querySelector('article')?.dataset.request })
    return real(at, how)
  }
}

// moments are what may happen to a prompt: each prepares it, and gives what makes
// it happen.
const moments = {
  // A prompt where there was none.
  drawn: async (w) => () => w.bash('git commit -m drawn', {}, { patience: 0.01 }),
  // Another prompt in the place of the one that is live.
  replaced: async (w, page) => {
    const [, second] = await two(w, page)
    return () => page.evaluate((id) => document.querySelector(`button[data-id="${id}"]`)?.click(), second.id)
  },
  // The one that is live ends, and somebody goes on to the next at once.
  ended: async (w, page) => {
    const [first] = await two(w, page)
    return async () => {
      await w.post(`/v1/requests/${first.id}/withdraw`, { reason: 'no more' })
      await page.keyboard.press('j')
    }
  },
  // Others come and go around it.
  moved: async (w, page) => {
    const [, second] = await two(w, page)
    return () => Promise.all([w.bash('git commit -m more', {}, { patience: 0.01 }), w.post(`/v1/requests/${second.id}/withdraw`, { reason: 'no more' })])
  },
}

// two requests wait, and the first is live.
async function two(w, page) {
  for (const n of [1, 2]) await w.bash(`git commit -m ${n}`, { session: `${w.session}-${n}` }, { patience: 0.01 })
  const list = await w.open(2)
  await live(page, list[0].id)
  await page.locator(`button[data-id="${list[1].id}"]`).waitFor()
  return list
}

const rounds = Number(process.env.ROUNDS || 42)
const hands = 3 // that play at a time, each at a server of its own: a round is waiting, most of it

// play plays every third round, and gives the answers.
async function play(w, hand) {
  const page = await w.page()
  await page.evaluate(watch)
  const names = Object.keys(moments)
  for (let i = hand; i < rounds; i += hands) {
    const begin = await moments[names[i % names.length]](w, page)
    // From 200 ms before to 400 ms after, the later ones while the page is busy.
    const offset = -200 + Math.round((600 * ((i * 37) % rounds)) / rounds)
    if (i % 3 === 2) await page.evaluate(() => { setTimeout(() => { for (const end = performance.now() + 250; performance.now() < end;); }, 30) })
    const keys = (async () => {
      await sleep(offset)
      for (const key of ['y', 'n', 'Escape', 'a', 'd']) await page.keyboard.press(key)
    })()
    await sleep(-offset)
    await begin()
    await keys
    // The keys have been heard; what was answered is compared below.
    for (const r of (await w.get('/v1/requests')).requests) await w.post(`/v1/requests/${r.id}/withdraw`, { reason: 'the round ended' })
    await page.getByText('0 requests wait').waitFor()
    w.session = `k${i}`
    if ((await page.locator('.ended').count()) > 0) await page.keyboard.press('Escape')
    await page.getByText('Nothing waits for you.').waitFor()
  }
  const answers = await page.evaluate(() => window.answers)
  // The same keys are answers once it is live.
  w.bash('git commit -m last')
  const [r] = await w.open(1)
  await live(page, r.id)
  await page.keyboard.press('n')
  await page.locator('.ended').getByText('Denied by you').waitFor()
  return answers
}

test('a key on its way is no answer to what was drawn meanwhile', async () => {
  const others = await Promise.all(Array.from({ length: hands - 1 }, () => World.start()))
  let answers
  try {
    answers = (await Promise.all([w, ...others].map(play))).flat()
    for (const other of others) assert.deepEqual(await other.clear(), [[], []])
  } finally {
    for (const other of others) await other.end()
  }
  const early = answers.filter((a) => a.id !== a.shown || !(a.at - a.drawn >= inert))
  assert.deepEqual(early, [], `of ${answers.length} answers in ${rounds} rounds, those given before the prompt was live`)
})
