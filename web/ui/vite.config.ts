import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type Plugin } from 'vite'

// What a server drew is never taken over here, and what Svelte has for that is
// left out: where nothing sets the flag, its branches fall away.
const noHydration: Plugin = {
  name: 'no-hydration',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/svelte/src/internal/client/dom/hydration.js')) return null
    return code.replace('export let hydrating = false', 'export const hydrating = false').replace('hydrating = value;', '')
  },
}

// Everything is a file of our own: nothing is inlined, since the page's policy
// forbids what is inline, and nothing comes from elsewhere.
export default defineConfig({
  plugins: [svelte(), noHydration],
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
})
