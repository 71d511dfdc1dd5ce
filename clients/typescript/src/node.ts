// What only Node can: Unix sockets, and finding the server and the token as the
// command line does.

import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { createHash } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import { homedir, platform } from 'node:os'
import { isAbsolute, join, normalize, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { Client, type Options } from './client.js'
import { CouldNotFindOut, Invalid, NoRight } from './errors.js'
import { Garbled } from './wire.js'

export * from './index.js'

type Env = Record<string, string | undefined>

// connect makes a client of the server and with the token that are given, or that
// SAYSO_SERVER and SAYSO_TOKEN_FILE name, or of the server of this machine with
// the token of `sayso ask`.
export function connect(o: Partial<Options> & { tokenFile?: string } = {}, env: Env = process.env): Client {
  const named = o.address || env.SAYSO_SERVER
  const address = named || socketPath(env)
  const file = o.tokenFile || env.SAYSO_TOKEN_FILE
  if (!o.token && !file && named) throw new NoRight('a server elsewhere wants a token; put it in a file, and its path in SAYSO_TOKEN_FILE')
  const token = o.token || readToken(file || join(state(env), 'tokens', 'agent-script'))
  return new Client({ underAgent: underAgent(env), fetch: carrier(address), ...o, address, token })
}

// carrier makes the requests to an address. Unlike the platform's fetch it waits
// as long as it takes, and it can speak to a socket.
export function carrier(address: string): (request: Request) => Promise<Response> {
  const socketPath = address.startsWith('unix://') ? address.slice(7) : address.startsWith('/') ? address : undefined
  return async (request) => {
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined
    if (socketPath) checkSocket(socketPath)
    return send(request, body, socketPath)
  }
}

function send(request: Request, body: Buffer | undefined, socketPath: string | undefined): Promise<Response> {
  return new Promise((done, fail) => {
    const options = {
      method: request.method, signal: request.signal, agent: false as const,
      headers: { ...Object.fromEntries(request.headers), ...(body && { 'Content-Length': body.length }) },
      ...(socketPath && { socketPath }),
    }
    const begin = request.url.startsWith('https:') ? https.request : http.request
    const r = begin(request.url, options, (res) => {
      try {
        done(responseOf(res))
      } catch {
        res.destroy()
        fail(new Garbled())
      }
    })
    r.on('socket', (s) => s.setKeepAlive(true, 30_000))
    r.on('upgrade', (_, s) => (s.destroy(), fail(new Garbled())))
    r.on('error', (e: NodeJS.ErrnoException) => fail(e.code?.startsWith('HPE_') ? new Garbled() : e))
    r.on('close', () => fail(new Error('closed'))) // which is nothing new where something came before
    r.end(body)
  })
}

function responseOf(res: http.IncomingMessage): Response {
  const status = res.statusCode ?? 0
  const headers = new Headers()
  for (const [name, value] of Object.entries(res.headers)) headers.set(name, String(value))
  const body = [204, 205, 304].includes(status) ? (res.resume(), null) : (Readable.toWeb(res) as ReadableStream<Uint8Array>)
  return new Response(body, { status, headers })
}

// checkSocket refuses the socket of another user before a token is sent there.
function checkSocket(path: string): void {
  const s = statSync(path)
  const uid = process.getuid?.() ?? -1
  if (!s.isSocket() || (s.uid !== uid && s.uid !== 0)) {
    throw new CouldNotFindOut(`user ${s.uid} owns ${path}, not you, so no token was sent there`)
  }
}

function folder(env: Env, name: string, ...below: string[]): string {
  const set = env[name]
  if (set && isAbsolute(set)) return normalize(set)
  const home = env === process.env ? homedir() : env.HOME
  if (!home || !isAbsolute(home)) throw new Invalid('neither SAYSO_HOME nor HOME is set; set SAYSO_HOME to the folder of the server')
  return join(home, ...below)
}

function state(env: Env): string {
  return env.SAYSO_HOME ? resolve(env.SAYSO_HOME) : join(folder(env, 'XDG_STATE_HOME', '.local', 'state'), 'sayso')
}

// socketPath is where a server on this machine listens.
export function socketPath(env: Env = process.env): string {
  const runtime = !env.SAYSO_HOME && env.XDG_RUNTIME_DIR && isAbsolute(env.XDG_RUNTIME_DIR) ? join(env.XDG_RUNTIME_DIR, 'sayso') : state(env)
  const path = join(runtime, 'sayso.sock')
  if (Buffer.byteLength(path) <= (platform() === 'linux' ? 107 : 103)) return path
  return `/tmp/sayso-${process.getuid?.() ?? 0}/${createHash('sha256').update(path).digest('hex').slice(0, 16)}.sock`
}

const makeToken = '(umask 077; sayso token create --name my-agent --kind agent > ~/my-agent.token), and start the program with SAYSO_TOKEN_FILE=~/my-agent.token'

// readToken reads a token from a file that must be ours and closed to others.
export function readToken(path: string): string {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (e) {
    const why = (e as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is none' : 'it cannot be read'
    throw new NoRight(`no token in ${path}: ${why}; type: ${makeToken}`)
  }
  try {
    const s = fstatSync(fd)
    if (s.mode & 0o077) throw new NoRight(`${path} may be read by others; type: chmod 600 ${path}`)
    if (!s.isFile() || (s.uid !== process.getuid?.() && s.uid !== 0)) throw new NoRight(`${path} is no file of yours`)
    return readFileSync(fd, 'utf8').trim()
  } finally {
    closeSync(fd)
  }
}

const agents = [
  'CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SESSION_ID', 'CLAUDE_PROJECT_DIR', 'CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED',
  'CODEX_THREAD_ID', 'GEMINI_CLI', 'CURSOR_AGENT', 'OPENCODE', 'COPILOT_CLI', 'CLINE_ACTIVE', 'AUGMENT_AGENT', 'GOOSE_TERMINAL', 'AI_AGENT',
]

// underAgent reports whether an agent started this program: it must not answer
// for people then.
function underAgent(env: Env): boolean {
  return agents.some((name) => !['', '0', 'false', undefined].includes(env[name]))
}
