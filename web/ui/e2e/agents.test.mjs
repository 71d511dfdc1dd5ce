// What the page shows of calls that come by other ways than a hook: through an MCP
// server's gateway, over pipes and over HTTP, and who answered them.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { Client, command, hello } from './mcp.mjs'
import { stage, w } from './stage.mjs'
import { everywhere, live, program } from './world.mjs'

const tool = (name, description = 'Does it.') => JSON.stringify({ name, description, inputSchema: { type: 'object' } })

const name = 'organisation-wide-knowledge-and-document-search-of-everybody'
const long = 'search_the_very_long_index_of_all_documents_that_anybody_ever_wrote_down_here'

stage(() => {
  w.bob = w.token('ada', 'admin', []) // whose the sessions are is nothing to this
  writeFileSync(join(w.home, 'policy.yaml'), `version: 1\nrules:\n  - ask: mcp__notes__write\n    elicit: true\n  - ask: mcp__${name}__*\n    danger: true\n`, { mode: 0o600 })
})

// tools is a file of what a server says of its tools.
function tools(...all) {
  const file = join(w.home, `tools-${w.calls++}.json`)
  writeFileSync(file, all.join(','))
  return file
}

test('elicitation: an answer by way of the client that asked is not said to be a person’s', async () => {
  const page = await w.page()
  await page.getByText('live', { exact: true }).waitFor()
  let answer
  const client = new Client(w, 'notes', tools(tool('write')), () => new Promise((resolve) => { answer = resolve }))
  await client.ready
  await client.list()
  const asked = client.call('write', { text: 'milk' })
  const [r] = await w.open(1)
  await live(page, r.id)
  const read = performance.now()
  await page.locator('article').getByText('mcp/editor').waitFor()
  await page.waitForTimeout(1100 - (performance.now() - read)) // who answers within a second has not read it
  answer({ decision: 'allow' })
  assert.equal((await asked).result.content[0].text, 'done')
  await page.locator('.ended').getByText(/^Allowed by .+ \(by way of the client that asked: a program may have answered\)/).waitFor()
  await everywhere(page, 'elicited')
  await page.getByRole('link', { name: 'All that became of it' }).click()
  const steps = page.locator('.life li')
  await steps.filter({ hasText: /^✓\s*Allowed/ }).getByText('by way of the client that asked: a program may have answered').waitFor()
  assert.doesNotMatch(await page.locator('.life ol').innerText(), /by a person/)
  await page.locator(`#h-${r.id}`).getByText('a program may have answered').waitFor()
  await everywhere(page, 'elicited life')
})

// front serves a server over HTTP, and gives what asks it as a client.
async function front(file) {
  const secret = w.token('desk', 'agent', ['--approver', 'bob'])
  const gateway = spawn(program, ['mcp', '--listen', '127.0.0.1:0', '--name', name, '--', ...command(w, file)], { env: w.env, stdio: ['ignore', 'ignore', 'pipe'] })
  w.scripts.push(gateway)
  const lines = createInterface({ input: gateway.stderr })
  let address
  while (!(address = / is at (\S+)$/.exec((await once(lines, 'line'))[0])?.[1]));
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', Authorization: `Bearer ${secret}` }
  let id = 0
  return async (message) => {
    const r = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...(message.method.startsWith('notifications/') ? {} : { id: ++id }), ...message }) })
    headers['Mcp-Session-Id'] ??= r.headers.get('Mcp-Session-Id') ?? undefined
    if (!headers['Mcp-Session-Id']) delete headers['Mcp-Session-Id']
    const text = await r.text()
    const data = /^data: (\{.*\})$/m.exec(text)?.[1] ?? text
    return data && JSON.parse(data)
  }
}

// outside is the text of what stands in a row and is out of sight.
const outside = (row) => row.evaluate((e) => [...e.children].filter((c) => c.getBoundingClientRect().right > e.getBoundingClientRect().right + 1 || c.getBoundingClientRect().width < 8).map((c) => c.textContent))

test('mcp over HTTP: names without end, a long text, text from right to left and a picture can be read, at a desk and on a phone', async () => {
  const ask = await front(tools(tool(long)))
  await ask(hello(false))
  await ask({ method: 'notifications/initialized' })
  await ask({ method: 'tools/list' })
  const image = Buffer.alloc(30_000, 'picture').toString('base64')
  const asked = ask({ method: 'tools/call', params: { name: long, arguments: {
    query: 'שלום עולם, מה שלומך', document: 'All work and no play. '.repeat(5000), image: { type: 'image', mimeType: 'image/png', data: image }, limit: 3, ['a-key-'.repeat(30)]: 'x',
  } } })
  const [r] = await w.open(1)
  const page = await w.page()
  await live(page, r.id)
  const article = page.locator('article')
  for (const part of [`${name} › ${long}`, r.session_id, 'mcp/desk/editor']) assert.ok((await article.innerText()).includes(part), `${part} in ${(await article.innerText()).slice(0, 600)}`)
  await article.getByText('שלום עולם, מה שלומך').waitFor()
  assert.equal(await article.locator('img').count(), 0)
  assert.doesNotMatch(await article.innerText(), /left out/) // for nothing is
  assert.equal(await article.getByText('its middle is shown when you ask for it').count(), 2)
  await article.getByRole('button', { name: /^Show 106,000 more characters/ }).click()
  assert.ok((await article.innerText()).includes('All work and no play. '.repeat(5000).trim()))
  await everywhere(page, 'mcp')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('.back').click()
  await page.locator('button.item').waitFor()
  await everywhere(page, 'mcp queue')
  assert.deepEqual(await outside(page.locator('.more')), [])
  await page.locator('button.item').click()
  await live(page, r.id)
  await page.getByRole('button', { name: 'Deny' }).click()
  assert.match(JSON.stringify(await asked), /Denied by/)
  await page.getByRole('link', { name: 'All that became of it' }).click()
  await page.locator('.life').getByText('mcp (agent').first().waitFor()
  await everywhere(page, 'mcp life')
  await page.setViewportSize({ width: 1280, height: 860 })
  assert.deepEqual(await outside(page.locator(`#h-${r.id} .facts`)), [])
})

test('unread: a request of which the database lost the text is marked, says why, takes no answer, and hides no other', async () => {
  for (const command of ['git commit -m one', 'git commit -m two']) await w.bash(command, {}, { patience: 0.01 })
  const [one, two] = await w.open(2)
  await w.halt()
  execFileSync(process.env.SAYSO_TEAR, [], { env: { TEAR: join(w.home, 'sayso.db'), TEAR_REQUEST: one.id } })
  await w.serve()
  const page = await w.page()
  const row = page.locator(`button[data-id="${one.id}"]`)
  await row.getByText('cannot be read').first().waitFor()
  assert.doesNotMatch(await row.innerText(), /may do anything|git commit|left/)
  assert.ok(await page.getByRole('checkbox', { name: `Choose ${one.short_id}` }).isDisabled())
  await row.click()
  const article = page.locator(`article[data-request="${one.id}"]`)
  await article.getByRole('alert').getByText('This request cannot be read').waitFor()
  assert.doesNotMatch(await article.innerText(), /Asked because|no deadline|may do anything/)
  assert.equal(await page.locator('section[aria-label="Answer"]').count(), 0)
  await page.keyboard.press('y')
  await everywhere(page, 'unread')
  await page.goto(`${w.address}/history`)
  await page.locator(`#h-${one.id}`).getByText('cannot be read').first().waitFor()
  await page.goto(w.address)
  await page.locator(`button[data-id="${two.id}"]`).click()
  await live(page, two.id)
  await page.keyboard.press('n')
  await page.locator('.ended').getByText('Denied by you').waitFor()
  await page.locator(`button[data-id="${one.id}"]`).getByText('cannot be read').first().waitFor()
})
