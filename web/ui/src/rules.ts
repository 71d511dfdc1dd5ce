// What a policy says, in words.
import type { Explanation, ToWrite } from './api'
import { parse } from './json'

export const effects: Record<string, { word: string; sign: string }> = {
  allow: { word: 'allowed', sign: '✓' }, ask: { word: 'asked about', sign: '?' }, deny: { word: 'denied', sign: '✕' },
}

export const tiers: Record<string, string> = { org: 'The organisation’s', user: 'Yours', repo: 'Of a project' }

// placed is the address at which a line of the policy is shown.
export const placed = (file: string, line: number) => `/policy?at=${encodeURIComponent(`${file}:${line}`)}`

export const whose = (rule: string, file: string) => (file ? rule : `${rule} (built in)`)

// told says where something is to be written; the text of it follows.
export function told(e: ToWrite): { where: string; text: string } {
  const named = e.rule ? `the rule “${e.rule}”` : 'the rule'
  const at = `${e.file || 'your policy file'}${e.line > 0 ? `:${e.line}${e.column > 0 ? `:${e.column}` : ''}` : ''}`
  if (e.under === 'when') return { where: `In ${at}, for the condition of ${named}, write`, text: e.text }
  if (e.do === 'remove') {
    if (e.whole) return { where: `In ${at}, under ${e.under}, remove ${named}; then it stops nothing else that it matches. It is the one with`, text: e.old }
    return { where: e.under === 'rules' ? `In ${at}, take out of the list` : `In ${at}, under ${e.under}, remove`, text: e.old }
  }
  if (e.do === 'insert') return { where: `In ${at}, under ${e.under}, before ${e.old}, write`, text: e.text }
  if (e.do === 'replace') return { where: `In ${at}, for ${e.old}, write`, text: e.text }
  return { where: `In ${e.file || 'your policy file'}, under ${e.under}, write`, text: e.text }
}

// decided are the words that decided, as a mark, where they stand in the text as
// it is shown; of a text of which something is hidden or spelled out they do not.
export function decided(x: Explanation) {
  const [from, to] = [x.span[0] ?? 0, x.span[1] ?? 0]
  const bytes = new TextEncoder().encode(x.text)
  if (!x.words || new TextDecoder().decode(bytes.subarray(from, to)) !== x.words) return []
  return [{ from, to, kind: 'decided', text: '' }]
}

// called is what somebody typed as a call: a line of bash, or a call as JSON.
// Nothing, if it is no such thing.
export function called(typed: string, cwd: string): Record<string, unknown> | null {
  if (typed.trim() === '') return null
  if (!typed.trimStart().startsWith('{')) return { tool: 'bash', args: { command: typed }, ...(cwd ? { cwd } : {}) }
  try {
    return { ...(cwd ? { cwd } : {}), ...(parse(typed) as Record<string, unknown>) }
  } catch {
    return null
  }
}
