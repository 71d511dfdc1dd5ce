// sayso asks before each call of opencode, and records what became of it.
// Written by `sayso init opencode`; taken out by `sayso init opencode --undo`. Changes in here are overwritten.
const hook = []

import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"

const askingMS = 3600000 // what waits longer is ended, and the call does not run
const recordingMS = 10000
const failed = "sayso: the hook failed, so this call does not run; type: sayso doctor"

// run starts the hook with what it is told and returns what it printed and its
// exit status. Whatever else it does is thrown. stop receives a function that
// ends it.
const run = (told, limit, stop) =>
  new Promise((resolve, reject) => {
    const child = spawn(hook[0], hook.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    const end = () => {
      child.kill("SIGTERM")
      reject(new Error(failed))
    }
    const timer = setTimeout(end, limit)
    stop?.(end)
    const out = []
    child.stdout.on("data", (chunk) => out.push(chunk))
    child.stdin.on("error", () => {}) // it ended early, and its status says the rest
    child.on("error", () => {
      clearTimeout(timer)
      reject(new Error(failed))
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, text: Buffer.concat(out).toString("utf8") })
    })
    child.stdin.end(told)
  })

const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v)

// answer reads what the hook said. It is thrown unless it is to go on.
const answer = ({ code, text }) => {
  let said
  try {
    said = JSON.parse(text)
  } catch {
    throw new Error(failed)
  }
  if (!isObject(said)) throw new Error(failed)
  if (said.decision === "deny" && typeof said.reason === "string" && said.reason !== "") throw new Error(said.reason)
  const known = Object.keys(said).every((name) => ["decision", "args", "note"].includes(name))
  if (code !== 0 || !known || (said.args !== undefined && !isObject(said.args))) throw new Error(failed)
  if (said.decision === "none" && said.args === undefined) return said
  if (said.decision !== "allow") throw new Error(failed)
  return said
}

// put makes args the arguments that were allowed, and nothing that was not in the
// text of them: no number that JSON has no word for, and nothing that is computed.
// The host runs the object that it showed us, so that this one is changed.
const put = (args, allowed) => {
  for (const name of Object.keys(args)) delete args[name]
  for (const [name, value] of Object.entries(allowed))
    Object.defineProperty(args, name, { value, writable: true, enumerable: true, configurable: true })
}

// freeze keeps a call what it was when it was allowed: a plugin that comes after
// this one can change nothing in it.
const freeze = (value) => {
  if (value === null || typeof value !== "object") return
  Object.values(value).forEach(freeze)
  Object.freeze(value)
}

// gated are the folders that were opened, each of which asks once, however many
// files like this one there are.
const gated = (globalThis[Symbol.for("sayso.gated")] ??= new WeakSet())

export const Sayso = async (opened) => {
  if (gated.has(opened)) return {}
  gated.add(opened)
  const { client, directory } = opened
  const waiting = new Map() // calls that are asked about: how to end their hook
  const running = new Map() // calls that were allowed: what the hook was told of them, and when
  const key = (sessionID, callID) => JSON.stringify([sessionID, callID])

  const data = async (answer) => {
    const { data, error } = await answer
    if (error !== undefined || data === undefined) throw new Error("sayso: opencode did not say whose call this is, so it does not run")
    return data
  }

  // whose says which session a person knows the call by, and which MCP servers
  // its tool could be of.
  const whose = async ({ tool, sessionID }) => {
    let session = await data(client.session.get({ path: { id: sessionID } }))
    const agent = session.agent ?? ""
    while (session.parentID) session = await data(client.session.get({ path: { id: session.parentID } }))
    const whose = { sessionID, rootID: session.id, agent, directory, servers: [], registered: true }
    if (!tool.includes("_")) return whose // no server can be in front of it
    whose.registered = (await data(client.tool.ids())).includes(tool)
    const servers = await data(client.mcp.status())
    whose.servers = Object.keys(servers).filter((name) => servers[name].status === "connected")
    return whose
  }

  // tell reports what became of a call. Nothing waits for it to be recorded
  // longer than it may take, and nothing fails if it cannot be.
  const tell = async (call, result) => {
    const { told, began } = call
    const text = JSON.stringify({ ...told, event: "tool.execute.after", tookMS: Date.now() - began, ...result })
    await run(text, recordingMS).catch(() => {})
  }

  // Whoever started this opencode may wait until it is gated.
  if (process.env.SAYSO_OPENCODE_GATED) writeFileSync(process.env.SAYSO_OPENCODE_GATED, "")

  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const at = key(sessionID, callID)
      if (waiting.has(at) || running.has(at)) throw new Error("sayso: two calls have the same id, so the second does not run")
      let end
      waiting.set(at, () => end?.())
      try {
        const told = { event: "tool.execute.before", tool, callID, args, ...(await whose({ tool, sessionID })) }
        const shown = JSON.stringify(args)
        if (!waiting.has(at)) throw new Error("sayso: the call was cancelled before anybody was asked")
        const said = answer(await run(JSON.stringify(told), askingMS, (stop) => (end = stop)))
        if (!waiting.has(at)) throw new Error("sayso: the call was cancelled before it was allowed")
        if (JSON.stringify(args) !== shown) throw new Error("sayso: another plugin changed the call while it was asked about")
        put(args, said.args ?? JSON.parse(shown))
        freeze(args)
        if (said.decision === "allow") running.set(at, { told: { ...told, args }, began: Date.now(), note: said.note })
      } finally {
        waiting.delete(at)
      }
    },
    "tool.execute.after": async ({ sessionID, callID }, result) => {
      const at = key(sessionID, callID)
      const call = running.get(at)
      running.delete(at)
      if (!call) return
      const output = typeof result?.output === "string" ? result.output : (JSON.stringify(result?.content) ?? "")
      const exit = Number.isInteger(result?.metadata?.exit) ? { exit: result.metadata.exit } : {}
      await tell(call, { output, ...exit })
      if (!call.note) return
      if (typeof result?.output === "string") result.output += "\n\n[" + call.note + "]"
      else if (Array.isArray(result?.content)) result.content.push({ type: "text", text: "[" + call.note + "]" })
    },
    event: async ({ event: { type, properties } }) => {
      if (type === "session.deleted" && !properties?.info?.parentID && properties?.info?.id) {
        await run(JSON.stringify({ event: type, rootID: properties.info.id }), recordingMS).catch(() => {})
      }
      const part = properties?.part
      if (type !== "message.part.updated" || part?.type !== "tool" || part.state?.status !== "error") return
      const at = key(part.sessionID, part.callID)
      const end = waiting.get(at)
      waiting.delete(at)
      end?.()
      const call = running.get(at)
      running.delete(at)
      if (call) await tell(call, { error: String(part.state.error || "failed") })
    },
  }
}
