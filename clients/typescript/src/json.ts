// JSON, strictly: no key twice, no number that would become another one, and
// one way to write each value.

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json }

// Malformed is text that is no JSON, or values that are none. It quotes nothing.
export class Malformed extends Error {}

const maxDepth = 200
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const plain = /[^"\\\u0000-\u001f]*/y
const space = /[ \t\r\n]*/y
const escapes: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

// parse reads a text. Whole numbers that a double does not hold are bigints. With
// exact a fraction that would be another whole number is refused; elsewhere it is
// what its double is.
export function parse(text: string, exact = false): Json {
  let at = 0
  const fail = (): never => {
    throw new Malformed(`no JSON at ${at}`)
  }
  const take = (what: RegExp): string => {
    what.lastIndex = at
    const found = what.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  const word = <T>(w: string, value: T): T => (text.startsWith(w, at) ? ((at += w.length), value) : fail())

  function string(): string {
    at++
    let out = ''
    for (;;) {
      out += take(plain)
      if (text[at] === '"') {
        at++
        return out
      }
      if (text[at] !== '\\') fail()
      const sign = text[at + 1] ?? ''
      const hex = text.slice(at + 2, at + 6)
      if (sign === 'u' && /^[0-9a-fA-F]{4}$/.test(hex)) {
        out += String.fromCharCode(parseInt(hex, 16))
        at += 6
      } else {
        out += escapes[sign] ?? fail()
        at += 2
      }
    }
  }

  function numeral(): number | bigint {
    const t = take(number)
    const n = Number(t)
    if (t === '') fail()
    if (!Number.isFinite(n)) throw new Malformed('a number that no double holds')
    if (/^-?\d+$/.test(t)) return Number.isSafeInteger(n) ? n : BigInt(t)
    if (exact && lost(t, n)) throw new Malformed('a number that no double holds')
    return n
  }

  function value(depth: number): Json {
    take(space)
    const sign = text[at]
    if ((sign === '{' || sign === '[') && depth >= maxDepth) throw new Malformed('nested too deep')
    let out: Json
    if (sign === '{') out = object(depth)
    else if (sign === '[') out = list(depth)
    else if (sign === '"') out = string()
    else if (sign === 't') out = word('true', true)
    else if (sign === 'f') out = word('false', false)
    else if (sign === 'n') out = word('null', null)
    else out = numeral()
    take(space)
    return out
  }

  function list(depth: number): Json[] {
    const out: Json[] = []
    at++
    take(space)
    if (text[at] === ']') return at++, out
    for (;;) {
      out.push(value(depth + 1))
      if (text[at] === ']') return at++, out
      word(',', null)
    }
  }

  function object(depth: number): { [name: string]: Json } {
    const out: { [name: string]: Json } = {}
    at++
    take(space)
    if (text[at] === '}') return at++, out
    for (;;) {
      take(space)
      if (text[at] !== '"') fail()
      const name = string()
      if (Object.hasOwn(out, name)) throw new Malformed('a key twice')
      take(space)
      word(':', null)
      // __proto__ is a name like any other.
      Object.defineProperty(out, name, { value: value(depth + 1), writable: true, enumerable: true, configurable: true })
      if (text[at] === '}') return at++, out
      word(',', null)
    }
  }

  const out = value(0)
  if (at < text.length) fail()
  return out
}

// lost reports whether a number is another one when it is read: a whole one with
// other digits, or none at all.
function lost(text: string, n: number): boolean {
  return n === 0 ? /[1-9]/.test(text.split(/[eE]/)[0] ?? '') : Number.isInteger(n) && spell(text) !== spell(String(n))
}

// canonical is the canonical JSON of a value: RFC 8785, with every digit of whole
// numbers. Members that are undefined are left out.
export function canonical(value: unknown, depth = 0): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (!Number.isFinite(Number(value))) throw new Malformed('a number that no double holds')
    return spell(String(value))
  }
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value)) throw new Malformed('a text is no Unicode')
    return JSON.stringify(value)
  }
  if (depth >= maxDepth) throw new Malformed('nested too deep')
  if (Array.isArray(value)) return `[${Array.from(value, (v) => canonical(v, depth + 1)).join(',')}]`
  const kind = value === undefined ? null : Object.getPrototypeOf(value)
  if (typeof value !== 'object' || (kind !== null && kind !== Object.prototype)) throw new Malformed('a value is no JSON')
  const members = Object.entries(value as object).filter(([, v]) => v !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1)) // by UTF-16
  return `{${members.map(([k, v]) => `${canonical(k)}:${canonical(v, depth + 1)}`).join(',')}}`
}

// spell writes a number as ECMAScript writes a double, with the digits of the text.
function spell(text: string): string {
  const negative = text.startsWith('-')
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').split(/[eE]/)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  const significant = all.replace(/^0+/, '')
  const point = whole.length - (all.length - significant.length) + Number(exponent)
  const digits = significant.replace(/0+$/, '')
  const n = digits.length
  const sign = negative ? '-' : ''
  if (n === 0) return '0'
  if (n <= point && point <= 21) return sign + digits + '0'.repeat(point - n)
  if (0 < point && point <= 21) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
  if (-6 < point && point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits[0]}${n > 1 ? '.' + digits.slice(1) : ''}e${point > 0 ? '+' : '-'}${Math.abs(point - 1)}`
}
