// JSON as it is written. A number that this language would round, or write in
// another way, stays the text that it was: what is shown is what runs, and what
// nobody touched is sent back unchanged.

// Exact is such a number.
class Exact {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text
  }
}

// mark stands for such a number while JSON is read or written. No text knows it:
// it is another one each time the page is loaded.
const mark = [...crypto.getRandomValues(new Uint32Array(4))].join('-')
const marked = new RegExp(`"${mark}:([^"]*)"`, 'g')

// suspect finds texts that may hold such a number, and token their strings and
// numbers.
const suspect = /(?:^|[:,[])\s*-?(?:\d{16}|\d+[.eE][-+.\deE]*\s*(?:[,\]}]|$))|-0/
const token = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g

// parse reads a text, and throws where it is no JSON.
export function parse(text: string): unknown {
  const plain: unknown = JSON.parse(text)
  if (!suspect.test(text)) return plain
  const kept = text.replace(token, (t) => (t.startsWith('"') || String(Number(t)) === t ? t : `"${mark}:${t}"`))
  return JSON.parse(kept, (_, v: unknown) => (typeof v === 'string' && v.startsWith(`${mark}:`) ? new Exact(v.slice(mark.length + 1)) : v))
}

// write is the JSON of a value, with its numbers as they were read.
export function write(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_, v: unknown) => (v instanceof Exact ? `${mark}:${v.text}` : v), indent).replace(marked, '$1')
}

// branches reports whether a value holds others.
export const branches = (value: unknown): value is object => value !== null && typeof value === 'object' && !(value instanceof Exact)
