// MCP clients and a server of theirs, with the real gateway between them.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { program } from './world.mjs'

// A server that says of its tools what stands in a file, and does what it is asked.
const server = `
const { readFileSync } = require('node:fs')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const say = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
  if (method === 'initialize') say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } })
  if (method === 'tools/list') say({ tools: JSON.parse('[' + readFileSync(process.argv[2], 'utf8') + ']') })
  if (method === 'tools/call') say({ content: [{ type: 'text', text: 'done' }] })
})`

// command starts the server of a file.
export function command(w, file) {
  const script = join(w.home, 'server.cjs')
  writeFileSync(script, server)
  return [process.execPath, script, file]
}

// hello is how a client that calls itself editor begins.
export const hello = (form) => ({
  method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: form ? { elicitation: {} } : {}, clientInfo: { name: 'editor', version: '1' } },
})

// Client is a client behind a gateway of its own. Questions that are put to whoever
// uses it are answered by form.
export class Client {
  #id = 0
  #waits = new Map()

  constructor(w, name, file, form) {
    this.gateway = spawn(program, ['mcp', '--name', name, '--', ...command(w, file)], { env: w.env, stdio: ['pipe', 'pipe', 'ignore'] })
    w.scripts.push(this.gateway)
    createInterface({ input: this.gateway.stdout }).on('line', (line) => {
      const m = JSON.parse(line)
      if (m.method === 'elicitation/create') return void form(m.params).then((content) => this.#write({ id: m.id, result: { action: 'accept', content } }))
      this.#waits.get(m.id)?.(m)
    })
    if (form) this.ready = this.ask(hello(form)).then(() => this.#write({ method: 'notifications/initialized' }))
  }

  #write(m) { this.gateway.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`) }

  ask(m) {
    const id = ++this.#id
    const answer = new Promise((resolve) => this.#waits.set(id, resolve))
    this.#write({ id, ...m })
    return answer
  }
  async list() { return (await this.ask({ method: 'tools/list' })).result.tools.map((t) => t.name) }
  call(name, args) { return this.ask({ method: 'tools/call', params: { name, arguments: args } }) }
}
