// The icon of the tab, with how many requests wait.

let drawn = -1

export function drawCount(n: number) {
  if (n === drawn) return
  drawn = n
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
  c.fillText(n > 99 ? '99' : String(n), 32, 35)
  link.href = canvas.toDataURL('image/png')
}
