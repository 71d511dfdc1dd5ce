// The suite asks for Node 22, for one function that its server scenarios do not
// use. This lets Node 20 load it.
import { register } from "node:module";

const fs = `export * from "node:fs";
import fs from "node:fs";
export default fs;
export const globSync = fs.globSync ?? (() => { throw new Error("fs.globSync needs Node 22"); });`;
const url = (text) => "data:text/javascript," + encodeURIComponent(text);
register(url(`export function resolve(name, context, next) {
  const theirs = name === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/");
  return theirs ? { url: ${JSON.stringify(url(fs))}, shortCircuit: true } : next(name, context);
}`));
