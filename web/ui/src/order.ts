// In which order requests stand in the queue, and which of them.
import type { Item } from './inbox.svelte'
import { dangers, project, summary, toolName } from './words'

export type Group = { key: string; host: string; project: string; caller: string; session: string; items: Item[] }
export type Row = { group: Group } | { item: Item; twins: number; twin: number }

// words are what the filter looks in.
function words(i: Item): string {
  const r = i.r
  i.words ??= [
    summary(r), r.tool, r.host_tool, toolName(r), r.kind, r.risk, r.host, r.caller, r.cwd, r.session_id, r.rule, r.short_id, r.description,
    ...r.danger.map((d) => dangers[d] ?? d), ...Object.values(r.said),
  ].join('\n').toLowerCase()
  return i.words
}

export function matching(items: Item[], filter: string): Item[] {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return wanted.length === 0 ? items : items.filter((i) => wanted.every((w) => words(i).includes(w)))
}

// grouped are requests by session and agent. The group and the request that must
// be answered first come first. What was placed keeps its place: while somebody
// points at the list, nothing moves, and what is new stands at the end.
export function grouped(items: Item[], placed: Map<string, number> | null): Group[] {
  const rank = (i: Item) => placed?.get(i.r.id) ?? Number.MAX_SAFE_INTEGER
  const sorted = [...items].sort((a, b) => (placed ? rank(a) - rank(b) : 0) || a.due - b.due || (a.r.id < b.r.id ? -1 : 1))
  const groups = new Map<string, Group>()
  for (const item of sorted) {
    const g = groups.get(item.group)
    if (g) g.items.push(item)
    else groups.set(item.group, { key: item.group, host: item.r.host, project: project(item.r), caller: item.r.caller, session: item.r.session_id, items: [item] })
  }
  return [...groups.values()]
}

// rows are the lines of the queue. Twins, which are the same call made twice,
// stand together where the first of them does.
export function rows(groups: Group[]): Row[] {
  const list: Row[] = []
  for (const group of groups) {
    list.push({ group })
    const same = new Map<string, Item[]>()
    for (const item of group.items) {
      const twins = same.get(item.r.digest)
      if (twins && item.r.digest) twins.push(item)
      else same.set(item.r.digest || item.r.id, [item])
    }
    for (const twins of same.values()) twins.forEach((item, twin) => list.push({ item, twin, twins: twins.length }))
  }
  return list
}
