// The views of the page. Those beside the queue are loaded when somebody goes
// there.
import type { Component } from 'svelte'

// Keys is what a view may export to hear the keys of the page.
export type Keys = { down?: (e: KeyboardEvent) => void; up?: (e: KeyboardEvent) => void; [other: string]: unknown }

export type View = { path: string; name: string; load?: () => Promise<{ default: Component<Record<string, never>, Keys> }> }

// The queue is at / and at /r/ID, and has no load: it is always there.
export const views: View[] = [
  { path: '/', name: 'Queue' },
  { path: '/history', name: 'History', load: () => import('./History.svelte') },
  { path: '/grants', name: 'Grants', load: () => import('./Grants.svelte') },
  { path: '/sessions', name: 'Sessions', load: () => import('./Sessions.svelte') },
  { path: '/policy', name: 'Policy', load: () => import('./Policy.svelte') },
  { path: '/status', name: 'Status', load: () => import('./Status.svelte') },
  { path: '/tools', name: 'Tools', load: () => import('./Tools.svelte') },
]

export const viewAt = (path: string): View =>
  views.find((v) => v.load && (path === v.path || path.startsWith(`${v.path}/`))) ?? views[0]!
