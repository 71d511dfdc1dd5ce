// A client of sayso, the gate between AI agents and the tools they call, for
// browsers and Node.

export { digest, of, parseCall, type Call } from './call.js'
export { Client, guard, type Answer, type Asking, type Event, type Options, type Outcome, type Shown } from './client.js'
export * from './errors.js'
export type { components, paths } from './schema.js'
