// Which keys are whose.

// inField reports whether a key is one that somebody writes with.
export const inField = (e: KeyboardEvent): boolean => e.target instanceof HTMLElement && e.target.closest('input:not([type=checkbox]), textarea, select') !== null

// leave takes the focus from a field: browsers empty a search field on Esc, and
// do not say so.
export function leave(e: KeyboardEvent) {
  e.preventDefault()
  ;(e.target as HTMLElement).blur()
}

// down are the keys that are pressed: not every system says that one is held when
// it sends it again.
const down = new Set<string>()

// pressed hears every key first. One that is held moves and writes on, and does
// nothing else: what it answered, closed or dismissed is not what it means next.
export function pressed(e: KeyboardEvent) {
  const held = e.repeat || down.has(e.code)
  if (e.code && !e.ctrlKey && !e.metaKey && !e.altKey) down.add(e.code)
  if (!held || moves(e)) return
  e.preventDefault()
  e.stopImmediatePropagation()
}

// released hears every key that is let go. While Meta is down, a Mac does not say
// so of the others.
export function released(e: KeyboardEvent) {
  if (e.key === 'Meta') down.clear()
  else down.delete(e.code)
}

// allReleased is for when keys are let go elsewhere.
export const allReleased = () => down.clear()

function moves(e: KeyboardEvent): boolean {
  const on = e.target instanceof HTMLElement ? e.target : document.body
  if (e.key === 'Escape') return false
  if (e.key === 'Enter') return on.matches('textarea')
  return inField(e) || (e.key === ' ' ? !on.closest('button, summary, input') : /^(Arrow\w+|Page\w+|Home|End|Tab|[jk])$/i.test(e.key))
}
