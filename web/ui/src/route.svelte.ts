// Where in the page one is. The address alone says it.

class Route {
  path = $state(location.pathname)
  query = $state.raw(new URLSearchParams(location.search))

  // go shows another address. What was there before is behind the back button,
  // unless it is replaced.
  go(to: string, replace = false) {
    if (to !== location.pathname + location.search) history[replace ? 'replaceState' : 'pushState'](null, '', to)
    this.read()
  }

  read() {
    this.path = location.pathname
    this.query = new URLSearchParams(location.search)
  }

  // under is the rest of the path behind a prefix, decoded; null elsewhere.
  under(prefix: string): string | null {
    const rest = this.path.startsWith(prefix) ? this.path.slice(prefix.length) : ''
    try {
      return decodeURIComponent(rest) || null
    } catch {
      return null
    }
  }
}

export const route = new Route()

// link is for links within the page: a plain click goes there without loading
// the page again.
export function link(e: MouseEvent & { currentTarget: HTMLAnchorElement }) {
  if (e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return
  e.preventDefault()
  route.go(e.currentTarget.pathname + e.currentTarget.search)
}
