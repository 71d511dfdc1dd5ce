// The small worker that makes the page one that can be installed, and that a click
// on a notice finds.
import { route } from './route.svelte'

type Policy = { createScriptURL(url: string): string }
type Policies = { createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy }

const place = '/sw.js'

// The page's policy lets no text become the address of a script. This one may.
const policy = (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy('sayso', {
  createScriptURL(url) {
    if (url !== place) throw new TypeError(`${url} is no script of this page`)
    return url
  },
})

export function employ() {
  if (!('serviceWorker' in navigator)) return // not here, or not over a connection that is trusted
  navigator.serviceWorker.register(policy?.createScriptURL(place) ?? place).catch(() => {}) // the page works without
  navigator.serviceWorker.addEventListener('message', (e) => {
    const to: unknown = e.data?.see
    if (typeof to === 'string' && /^\/r\/[0-9a-z]+$/.test(to)) route.go(to)
  })
}
