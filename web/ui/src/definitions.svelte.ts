// What MCP servers say of their tools. How much of it changed stands above every
// view, so it is read once for the whole page.
import { api, Refused, type Definitions } from './api'
import { Reading } from './reading.svelte'

// Who may not see definitions, and a server that knows of none, has no such list.
export const none: Definitions = { definitions: [] }

export const definitions = new Reading((signal) => api.definitions(signal).catch((e) => {
  if (e instanceof Refused && (e.code === 'not-allowed' || e.code === 'not-found')) return none
  throw e
}))

export const changedTools = () => definitions.value?.definitions.filter((d) => d.state === 'changed').length ?? 0
