// The parts of a command that were understood. Places are told in bytes, texts
// are drawn in characters.
import type { Mark } from './api'

export type Run = { text: string; kind: string }

// most is how many marks are drawn in place; all of them are listed.
const most = 512

// runs are the parts of a text, each with the kind of the innermost mark around
// it. Put together they are the text.
export function runs(text: string, marks: Mark[]): Run[] {
  const bytes = new TextEncoder().encode(text)
  const placed = marks.slice(0, most).filter((m) => 0 <= m.from && m.from < m.to && m.to <= bytes.length)
  const cuts = [...new Set([0, bytes.length, ...placed.flatMap((m) => [m.from, m.to])])].sort((a, b) => a - b)
  const decode = new TextDecoder()
  const out = cuts.slice(0, -1).map((from, i) => {
    const to = cuts[i + 1]!
    let inner: Mark | null = null
    for (const m of placed) if (m.from <= from && to <= m.to && (!inner || m.to - m.from < inner.to - inner.from)) inner = m
    return { text: decode.decode(bytes.subarray(from, to)), kind: inner?.kind ?? '' }
  })
  return out.map((r) => r.text).join('') === text ? out : [{ text, kind: '' }]
}

// part is the text of a mark, short; empty where its place is not known.
export function part(text: string, m: Mark): string {
  if (m.from >= m.to) return ''
  const s = new TextDecoder().decode(new TextEncoder().encode(text).subarray(m.from, m.to)).replaceAll(/\s+/g, ' ')
  return s.length > 60 ? `${s.slice(0, 59)}…` : s
}
