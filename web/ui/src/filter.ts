// What the history is filtered by, as it stands in the address of the page, and
// what the API is asked for then.

const hour = 3_600_000
const spans: Record<string, number> = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour }

// names are the parameters of the page's address.
export const names = ['text', 'state', 'source', 'by', 'tool', 'cause', 'longer', 'when', 'from', 'to', 'session']

// asked are the parameters of the API. Days are those of whoever looks.
export function asked(query: URLSearchParams): URLSearchParams {
  const out = new URLSearchParams()
  for (const name of ['text', 'state', 'source', 'by', 'tool', 'cause', 'longer', 'session']) {
    const value = query.get(name)?.trim()
    if (value) out.set(name, value)
  }
  const span = spans[query.get('when') ?? '']
  if (span) out.set('since', new Date(Date.now() - span).toISOString())
  const from = day(query.get('from'), 0)
  const to = day(query.get('to'), 1)
  if (from) out.set('since', from)
  if (to) out.set('until', to)
  return out
}

// day is when a day begins, or so many days later.
function day(text: string | null, later: number): string | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? '')
  if (!parts) return null
  const at = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

// change sets one parameter of an address, or takes it away.
export function change(query: URLSearchParams, name: string, value: string) {
  if (value) query.set(name, value)
  else query.delete(name)
}
