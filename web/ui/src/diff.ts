// Unified differences, taken apart for drawing; and one made of edited lines.

export type Line = { sign: ' ' | '+' | '-' | '@' | '\\'; text: string; old: number | null; new: number | null }
export type Pair = { left: Line | null; right: Line | null }

// lines are those of a unified difference. What does not look like one is shown
// as it is.
export function lines(content: string): Line[] {
  const out: Line[] = []
  let [a, b] = [0, 0]
  let head = true
  for (const text of content.replace(/\n$/, '').split('\n')) {
    const at = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text)
    if (at) {
      head = false
      ;[a, b] = [Number(at[1]), Number(at[2])]
      out.push({ sign: '@', text, old: null, new: null })
    } else if (head && /^(---|\+\+\+) /.test(text)) {
      continue
    } else if (text.startsWith('+') && !head) {
      out.push({ sign: '+', text: text.slice(1), old: null, new: b++ })
    } else if (text.startsWith('-') && !head) {
      out.push({ sign: '-', text: text.slice(1), old: a++, new: null })
    } else if (text.startsWith('\\') && !head) {
      out.push({ sign: '\\', text: text.slice(2), old: null, new: null })
    } else if (head || !text.startsWith(' ')) {
      out.push({ sign: '\\', text, old: null, new: null })
    } else {
      out.push({ sign: ' ', text: text.slice(1), old: a++, new: b++ })
    }
  }
  return out
}

// pairs put what was removed beside what came in its place.
export function pairs(all: Line[]): Pair[] {
  const out: Pair[] = []
  for (let i = 0; i < all.length; ) {
    const removed: Line[] = []
    const added: Line[] = []
    const start = i
    while (all[i]?.sign === '-') removed.push(all[i++]!)
    while (all[i]?.sign === '+') added.push(all[i++]!)
    for (let k = 0; k < Math.max(removed.length, added.length); k++) out.push({ left: removed[k] ?? null, right: added[k] ?? null })
    if (i === start) {
      out.push({ left: all[i]!, right: all[i]! })
      i++
    }
  }
  return out
}

// changed is the part in the middle of two lines in which they differ; null if
// they have too little in common to say so.
export function changed(a: string, b: string): [number, number, number, number] | null {
  const short = Math.min(a.length, b.length)
  let head = 0
  while (head < short && a[head] === b[head]) head++
  let tail = 0
  while (tail < short - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  if (head + tail < 3 || (head + tail) * 3 < short) return null
  return [head, a.length - tail, head, b.length - tail]
}

// between is the difference of two texts, line by line, for texts of a size that
// a person edits.
export function between(was: string, is: string): Line[] {
  const [a, b] = [was.split('\n'), is.split('\n')]
  const long = a.length * b.length > 4_000_000
  const common = Array.from({ length: a.length + 1 }, () => (long ? null : new Uint32Array(b.length + 1)))
  if (!long) {
    for (let i = a.length - 1; i >= 0; i--) {
      for (let k = b.length - 1; k >= 0; k--) {
        common[i]![k] = a[i] === b[k] ? common[i + 1]![k + 1]! + 1 : Math.max(common[i + 1]![k]!, common[i]![k + 1]!)
      }
    }
  }
  const out: Line[] = []
  let [i, k] = [0, 0]
  while (i < a.length || k < b.length) {
    if (i < a.length && k < b.length && a[i] === b[k]) out.push({ sign: ' ', text: a[i]!, old: ++i, new: ++k })
    else if (i < a.length && (long || k >= b.length || common[i + 1]![k]! >= common[i]![k + 1]!)) out.push({ sign: '-', text: a[i]!, old: ++i, new: null })
    else out.push({ sign: '+', text: b[k]!, old: null, new: ++k })
  }
  return out
}
