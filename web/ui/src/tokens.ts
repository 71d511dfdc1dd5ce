// Coloured code, line by line.
import type { Token } from './api'

export type Chunk = { first: number; lines: Token[][] }

// size is how many lines are drawn together, so that far-off ones cost nothing.
const size = 100

// chunks are the lines of tokens, numbered from 1.
export function chunks(tokens: Token[]): Chunk[] {
  const lines: Token[][] = [[]]
  for (const t of tokens) {
    t.text.split('\n').forEach((text, i) => {
      if (i > 0) lines.push([])
      if (text !== '') lines.at(-1)!.push(t.class ? { class: t.class, text } : { text })
    })
  }
  if (lines.length > 1 && lines.at(-1)!.length === 0) lines.pop()
  const out: Chunk[] = []
  for (let i = 0; i < lines.length; i += size) out.push({ first: i + 1, lines: lines.slice(i, i + size) })
  return out
}
