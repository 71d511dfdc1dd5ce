// Reads a QR code as a phone does, from what a terminal without colour shows. It
// knows the sizes in which all bytes stand in one row, which is up to 106 of them.
const masks = [
  (r, c) => (r + c) % 2 === 0, (r) => r % 2 === 0, (r, c) => c % 3 === 0, (r, c) => (r + c) % 3 === 0,
  (r, c) => ((r >> 1) + Math.floor(c / 3)) % 2 === 0, (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0, (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
]

// drawn are the modules of a drawing, true for dark, without the light around.
function drawn(text) {
  const lines = text.split('\n').filter((l) => /^[█▀▄ ]+$/.test(l) && l.includes('█'))
  const rows = lines.flatMap((l) => [[...l].map((c) => !'█▀'.includes(c)), [...l].map((c) => !'█▄'.includes(c))])
  const inked = rows.map((r, y) => (r.some(Boolean) ? y : -1)).filter((y) => y >= 0)
  const left = Math.min(...inked.map((y) => rows[y].indexOf(true)))
  const size = rows[inked[0]].lastIndexOf(true) + 1 - left
  return rows.slice(inked[0], inked[0] + size).map((r) => r.slice(left, left + size))
}

export function readQR(text) {
  const dark = drawn(text)
  const size = dark.length
  const version = (size - 17) / 4
  if (!Number.isInteger(version) || version < 1 || version > 5) throw new Error(`no code that can be read here: ${size} modules\n${text}`)
  const at = version > 1 ? size - 7 : -9 // the middle of the one small square
  const fixed = (r, c) => r === 6 || c === 6 || (r < 9 && c < 9) || (r < 9 && c >= size - 8) || (r >= size - 8 && c < 9) || (Math.abs(r - at) <= 2 && Math.abs(c - at) <= 2)
  const format = [0, 1, 2, 3, 4, 5, 7, 8].map((c) => dark[8][c]).concat([7, 5, 4, 3, 2, 1, 0].map((r) => dark[r][8])).reduce((n, d) => n * 2 + d, 0) ^ 0x5412
  if (format >> 13 !== 1) throw new Error('the code is not of level L')
  const mask = masks[(format >> 10) & 7]
  const bits = []
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right--
    for (let i = 0; i < size; i++) {
      const r = up ? size - 1 - i : i
      for (const c of [right, right - 1]) if (!fixed(r, c)) bits.push(dark[r][c] !== mask(r, c))
    }
  }
  const take = (n) => bits.splice(0, n).reduce((v, b) => v * 2 + b, 0)
  if (take(4) !== 4) throw new Error('the code does not hold bytes')
  return Buffer.from(Array.from({ length: take(8) }, () => take(8))).toString()
}
