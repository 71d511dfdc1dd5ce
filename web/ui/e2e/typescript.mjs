// Hooks by which Node reads the sources of the page: those without a document.
import { readFile } from 'node:fs/promises'
import ts from 'typescript'

export const resolve = (name, context, next) =>
  next(context.parentURL?.endsWith('.ts') && name.startsWith('.') ? `${name}.ts` : name, context)

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
  return { format: 'module', shortCircuit: true, source: ts.transpileModule(await readFile(new URL(url), 'utf8'), { compilerOptions }).outputText }
}
