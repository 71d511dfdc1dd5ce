// In which order requests stand in the queue, and which of them.
import type { Item } from './inbox.svelte'
import { dangers, project, summary, toolName } from './words'

// Group is the requests of one agent in one session, the most urgent first. It
// never changes: another one takes its place.
export type Group = { key: string; host: string; project: string; caller: string; session: string; items: Item[] }
export type Row = { key: string } & ({ group: Group } | { item: Item; twins: number; twin: number })

const before = (a: Item, b: Item) => a.due - b.due || (a.r.id < b.r.id ? -1 : 1)

// place is where an item stands or belongs in a list.
function place(items: Item[], item: Item): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (before(items[middle]!, item) < 0) low = middle + 1
    else high = middle
  }
  return low
}

// Groups are requests by session and agent, as they come and go. A group in which
// nothing changed stays the same object: nobody needs to look at it again.
export class Groups {
  #groups = new Map<string, Group>()

  // put adds a request, or has it take the place of what it was.
  put(item: Item) {
    const was = this.#groups.get(item.group)
    const items = was?.items ?? []
    const i = place(items, item)
    const r = item.r
    this.#groups.set(item.group, {
      key: item.group, host: r.host, project: project(r), caller: r.caller, session: r.session_id,
      items: items.toSpliced(i, items[i]?.r.id === r.id ? 1 : 0, item),
    })
  }

  drop(item: Item) {
    const was = this.#groups.get(item.group)
    if (!was) return
    const items = was.items.filter((i) => i.r.id !== item.r.id)
    if (items.length > 0) this.#groups.set(item.group, { ...was, items })
    else this.#groups.delete(item.group)
  }

  // list has the group of the most urgent request first.
  list(): Group[] {
    return [...this.#groups.values()].sort((a, b) => before(a.items[0]!, b.items[0]!))
  }
}

// words are what the filter looks in.
function words(i: Item): string {
  const r = i.r
  i.words ??= [
    summary(r), r.tool, r.host_tool, toolName(r), r.kind, r.risk, r.host, r.caller, r.cwd, r.session_id, r.rule, r.short_id, r.description,
    ...r.danger.map((d) => dangers[d] ?? d), ...Object.values(r.said),
  ].join('\n').toLowerCase()
  return i.words
}

function matching(items: Item[], filter: string): Item[] {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return wanted.length === 0 ? items : items.filter((i) => wanted.every((w) => words(i).includes(w)))
}

const drawn = new WeakMap<Group, { filter: string; rows: Row[] }>()

// rows are the lines of the queue that a filter leaves.
export function rows(groups: Group[], filter: string): Row[] {
  return groups.flatMap((group) => {
    const known = drawn.get(group)
    if (known?.filter === filter) return known.rows
    const list = rowsOf({ ...group, items: matching(group.items, filter) })
    drawn.set(group, { filter, rows: list })
    return list
  })
}

// Held is lines that keep their place, and what they were made of.
export type Held = { rows: Row[]; keys: Set<string>; groups: Set<Group> }

export const hold = (rows: Row[], groups: Group[]): Held => ({ rows, keys: new Set(rows.map((r) => r.key)), groups: new Set(groups) })

// after are the lines that keep their place, and behind them what is new.
export function after(held: Held, groups: Group[], filter: string): Row[] {
  const fresh = groups.filter((g) => !held.groups.has(g)).flatMap((g) => {
    const items = g.items.filter((i) => !held.keys.has(i.r.id) && !i.end)
    return items.length > 0 ? rowsOf({ ...g, key: `new ${g.key}`, items: matching(items, filter) }) : []
  })
  return fresh.length > 0 ? [...held.rows, ...fresh] : held.rows
}

// rowsOf are the lines of one group. Twins, which are the same call made twice,
// stand together where the first of them does.
function rowsOf(group: Group): Row[] {
  if (group.items.length === 0) return []
  const same = new Map<string, Item[]>()
  for (const item of group.items) {
    const twins = same.get(item.r.digest)
    if (twins && item.r.digest) twins.push(item)
    else same.set(item.r.digest || item.r.id, [item])
  }
  const list: Row[] = [{ key: group.key, group }]
  for (const twins of same.values()) twins.forEach((item, twin) => list.push({ key: item.r.id, item, twin, twins: twins.length }))
  return list
}
