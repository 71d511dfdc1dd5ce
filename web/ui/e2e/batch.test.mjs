// Several requests, one decision: who is in it is on the screen, and each has an
// answer of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as payload from './payloads.mjs'
import { stage, w } from './stage.mjs'
import { everywhere, inert } from './world.mjs'

stage()

const button = (page, name) => page.getByRole('button', { name })
const member = (page, r) => page.locator(`[data-member="${r.id}"]`)
const box = (page, r) => page.getByRole('checkbox', { name: `Choose ${r.short_id}` })
const ready = (page) => page.locator('section[aria-label="Answer all of these"]:not(.inert)').waitFor()
const state = async (r) => (await w.get(`/v1/requests/${r.id}`)).state

// asked are requests that wait, one for each command, in order.
async function asked(commands, more = () => ({})) {
  const before = (await w.get('/v1/requests')).requests.length
  for (const [i, command] of commands.entries()) await w.bash(command, more(i), { patience: 0.01 })
  return (await w.open(before + commands.length)).slice(before)
}

// confirm chooses requests by their boxes and has the page show them.
async function confirm(page, list) {
  for (const r of list) await box(page, r).check()
  await page.locator('.chosen').getByText(`${list.length} chosen`).waitFor()
  await page.keyboard.press('b')
  await ready(page)
}

test('batch: chosen by keys, each answered for itself, and a latecomer is not swept in', async () => {
  const list = await asked(['git commit -m 1', 'git commit -m 2', 'git commit -m 3', 'git commit -m 4'], (i) => (i < 3 ? { group_id: 'g1' } : {}))
  const page = await w.page()
  await page.locator(`article[data-request="${list[0].id}"]`).waitFor()
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+J')
  await page.locator('.chosen').getByText('3 chosen').waitFor()
  await page.waitForTimeout(inert + 200)
  for (const key of ['y', 'n']) await page.keyboard.press(key) // it is not clear which are meant
  await w.open(4)
  await page.keyboard.press('b')
  await page.getByRole('heading', { name: 'Answer 3 requests together' }).waitFor()
  await ready(page)
  for (const r of list.slice(0, 3)) assert.match(await member(page, r).innerText(), new RegExp(r.preview.command))
  assert.equal(await member(page, list[3]).count(), 0)
  const [late] = await asked(['git commit -m late'], () => ({ group_id: 'g1' }))
  await page.getByText('5 requests wait').waitFor()
  const sent = []
  page.on('request', (r) => { if (r.url().endsWith('/answer')) sent.push([new URL(r.url()).pathname, r.postDataJSON()]) })
  await page.keyboard.press('y')
  await page.getByRole('heading', { name: 'Answered: 3 requests.' }).waitFor()
  assert.deepEqual(sent, [['/v1/groups/g1/answer', { effect: 'allow', scope: 'once', members: list.slice(0, 3).map(({ id, digest, content }) => ({ id, digest, content })) }]])
  assert.deepEqual(await Promise.all([...list, late].map(state)), ['allowed', 'allowed', 'allowed', 'parked', 'parked'])
  for (const r of list.slice(0, 3)) {
    const { events } = await w.get(`/v1/requests/${r.id}/life`)
    assert.equal(events.filter((e) => e.type === 'approval.answered').length, 1)
    await member(page, r).getByText('Allowed by you.').waitFor()
  }
  await page.keyboard.press('Escape')
  await page.locator('article[data-request]').waitFor()
})

test('batch: a group by its box, denied with a note, one message each where they share no group', async () => {
  const list = await asked(['git commit -m 1', 'git commit -m 2', 'go test ./...'], (i) => ({ session: i < 2 ? 'one' : 'two' }))
  const page = await w.page()
  await page.getByRole('checkbox', { name: 'Choose all of app' }).first().check()
  await page.locator('.chosen').getByText('2 chosen').waitFor()
  await button(page, 'Answer together').click()
  await ready(page)
  await page.keyboard.press('r')
  await page.keyboard.type('one commit, please')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Answered: 2 requests.' }).waitFor()
  assert.deepEqual(await Promise.all(list.map(state)), ['denied', 'denied', 'parked'])
  assert.equal((await w.get(`/v1/requests/${list[1].id}`)).decision.note, 'one commit, please')
  await button(page, 'Close').click()
})

test('batch: what is dangerous takes the slow answer, or is left out', async () => {
  for (const out of [false, true]) {
    const list = await asked(['git commit -m 1', 'git push origin main', 'git commit -m 2'], () => ({ session: `danger${out}` }))
    const page = await w.page()
    await page.getByText('3 requests wait').waitFor()
    await confirm(page, list)
    await page.getByText('The riskiest: git push origin main, which sends to another machine').waitFor()
    await page.keyboard.press('y')
    await page.waitForTimeout(300)
    await w.open(3)
    if (out) {
      await button(page, 'leave it out').click()
      await page.getByRole('heading', { name: 'Answer 2 requests together' }).waitFor()
      await ready(page)
      await page.keyboard.press('y')
    } else {
      await page.keyboard.down('y')
      await page.waitForTimeout(1400)
      await page.keyboard.up('y')
    }
    await page.getByRole('heading', { name: `Answered: ${out ? 2 : 3} requests.` }).waitFor()
    assert.deepEqual(await Promise.all(list.map(state)), ['allowed', out ? 'parked' : 'allowed', 'allowed'])
    await w.clear()
  }
})

test('batch: who was first and what ended is said with each, and Esc answers nothing', async () => {
  const list = await asked(['git commit -m 1', 'git commit -m 2', 'git commit -m 3'])
  const page = await w.page()
  await page.getByText('3 requests wait').waitFor()
  await confirm(page, list)
  await page.keyboard.press('Escape')
  await page.locator('article[data-request]').waitFor()
  await w.open(3)
  await page.keyboard.press('b')
  await ready(page)
  await w.post(`/v1/requests/${list[0].id}/withdraw`, { reason: 'the turn was cancelled' })
  await member(page, list[0]).getByText('It ended meanwhile: withdrawn').waitFor()
  await page.getByRole('heading', { name: 'Answer 2 requests together' }).waitFor()
  await ready(page)
  await page.evaluate(() => { // the answers stay on their way, and what happens meanwhile is not heard
    const real = window.fetch
    const held = new Promise((resolve) => { window.letGo = resolve })
    window.fetch = async (at, how) => {
      if (String(at).endsWith('/answer')) await held
      return real(at, how)
    }
  })
  await page.keyboard.press('y')
  const { id, digest, content } = list[1]
  assert.equal((await w.post(`/v1/requests/${id}/answer`, { effect: 'deny', digest, content }, w.bob)).status, 200)
  await page.evaluate(() => window.letGo())
  await page.getByRole('heading', { name: 'Answered: 1 of 2.' }).waitFor()
  await member(page, list[1]).getByText('bob was first: denied.').waitFor()
  await member(page, list[2]).getByText('Allowed by you.').waitFor()
})

test('batch: after a break all of it is read again, and again when the server wants that', async () => {
  const list = await asked(['git commit -m 1', 'git commit -m 2'], () => ({ group_id: 'g2' }))
  const page = await w.page()
  await page.getByText('2 requests wait').waitFor()
  await confirm(page, list)
  await w.halt()
  await page.getByText('Connection lost.').waitFor()
  await page.keyboard.press('y')
  await w.serve()
  await page.getByText('live', { exact: true }).waitFor()
  await page.route('**/answer', (r) => r.fulfill({ status: 428, json: { type: 'about:blank', title: 'x', status: 428, detail: 'not shown', code: 'content-wanted' } }), { times: 1 })
  await ready(page)
  await page.keyboard.press('y')
  await page.getByText('the server wants you to see some once more').waitFor()
  await w.open(2)
  await ready(page)
  await page.keyboard.press('y')
  await page.getByRole('heading', { name: 'Answered: 2 requests.' }).waitFor()
  assert.deepEqual(await Promise.all(list.map(state)), ['allowed', 'allowed'])
})

test('batch: how it looks, full of every presentation and warning', async () => {
  const calls = [...payload.plain.slice(0, 7), ...payload.hostile.slice(4, 8)]
  for (const [call, options] of calls) w.ask(call, options)
  const list = await w.open(calls.length)
  const page = await w.page()
  await page.getByText(`${calls.length} requests wait`).waitFor()
  for (const r of list) await page.keyboard.press(r === list[0] ? 'x' : 'Shift+ArrowDown')
  await page.locator('.chosen').getByText(`${list.length} chosen`).waitFor()
  await everywhere(page, 'chosen')
  await page.keyboard.press('b')
  await ready(page)
  await everywhere(page, 'batch')
  await page.keyboard.press('n')
  await page.getByRole('heading', { name: `Answered: ${list.length} requests.` }).waitFor()
  await everywhere(page, 'batch answered')
})
