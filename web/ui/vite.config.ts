import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// Everything is a file of our own: nothing is inlined, since the page's policy
// forbids what is inline, and nothing comes from elsewhere.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
})
