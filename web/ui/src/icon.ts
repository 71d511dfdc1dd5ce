// The icon of the tab, with how many requests wait.

let drawn = ''

export function drawCount(n: number) {
  const text = n > 99 ? '99' : String(n)
  if (text === drawn) return
  drawn = text
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (!link) return
  if (n === 0) {
    link.href = '/icon.svg'
    return
  }
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 64
  const c = canvas.getContext('2d')
  if (!c) return
  c.fillStyle = '#b3202a'
  c.beginPath()
  c.roundRect(0, 0, 64, 64, 16)
  c.fill()
  c.fillStyle = '#fff'
  c.font = `bold ${n > 9 ? 36 : 46}px sans-serif`
  c.textAlign = 'center'
  c.textBaseline = 'middle'
  c.fillText(text, 32, 35)
  link.href = canvas.toDataURL('image/png')
}
