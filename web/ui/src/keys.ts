// Which keys are whose.

// inField reports whether a key is one that somebody writes with.
export const inField = (e: KeyboardEvent): boolean => e.target instanceof HTMLElement && e.target.closest('input:not([type=checkbox]), textarea, select') !== null

// leave takes the focus from a field: browsers empty a search field on Esc, and
// do not say so.
export function leave(e: KeyboardEvent) {
  e.preventDefault()
  ;(e.target as HTMLElement).blur()
}
