// What a view reads from the server, and how that stands.
import { Refused } from './api'
import { inbox } from './inbox.svelte'

export class Reading<T> {
  value = $state.raw<T | null>(null)
  failed = $state('')
  #run: AbortController | null = null

  constructor(readonly ask: (signal: AbortSignal) => Promise<T>) {}

  // read asks anew. What was read before stays until the answer is there; an
  // answer that was overtaken counts for nothing.
  async read() {
    this.#run?.abort()
    const run = (this.#run = new AbortController())
    try {
      const value = await this.ask(run.signal)
      if (!run.signal.aborted) [this.value, this.failed] = [value, '']
    } catch (e) {
      if (!run.signal.aborted) this.failed = wrong(e)
    }
  }

  stop() {
    this.#run?.abort()
  }
}

// wrong says in a sentence why something did not work.
export function wrong(e: unknown): string {
  if (!(e instanceof Refused)) return 'The server does not answer.'
  if (e.code === 'unauthenticated') inbox.signOut()
  if (e.code === 'not-allowed') return 'This is not for whom you are signed in as.'
  return `The server refused: ${e.message}.`
}
