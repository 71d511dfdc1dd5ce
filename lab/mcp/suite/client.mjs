// The official client for TypeScript makes use of all that a server has, and
// writes a line for each answer. SDK is its folder; the rest is the server: a URL, or
// a command with its arguments. With CALLS it calls these tools alone, and with TASKS
// the one tool that is a task.
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const sdk = (name) => import(pathToFileURL(join(process.env.SDK, "dist", "esm", name)).href);
const { Client } = await sdk("client/index.js");
const types = await sdk("types.js");
const [first, ...rest] = process.argv.slice(2);
let transport;
if (first.startsWith("http")) {
  const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
  const headers = process.env.TOKEN ? { Authorization: "Bearer " + process.env.TOKEN } : {};
  transport = new StreamableHTTPClientTransport(new URL(first), { requestInit: { headers } });
} else {
  const { StdioClientTransport } = await sdk("client/stdio.js");
  transport = new StdioClientTransport({ command: first, args: rest, env: process.env, stderr: "ignore" });
}

const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const options = { capabilities };
if (process.env.TASKS) {
  const { InMemoryTaskStore } = await sdk("experimental/tasks/stores/in-memory.js");
  capabilities.tasks = { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } };
  options.taskStore = new InMemoryTaskStore();
}
const client = new Client({ name: "lab", version: "1" }, options);
const say = (what, answer) => console.log(JSON.stringify([what, answer]));
const progress = [];
client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///lab", name: "lab" }] }));
client.setRequestHandler(types.CreateMessageRequestSchema, () => ({ model: "lab", role: "assistant", content: { type: "text", text: "sampled" } }));
client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada", check: true } }));
let updated;
const update = new Promise((resolve) => (updated = resolve));
client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (n) => updated(n.params.uri));

await client.connect(transport);
if (process.env.CALLS) {
  say("server", [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
  say("tools", await client.listTools());
  for (const [name, args] of JSON.parse(process.env.CALLS)) say(name, await client.callTool({ name, arguments: args }).catch(String));
  say("ping", await client.ping());
  process.exit(0);
}
if (process.env.TASKS) {
  await client.listTools(); // which says what is a task
  const { tasks } = client.experimental;
  // What a server asks of a client may be a task of the client.
  const asTask = (result) => async (request, extra) => {
    const task = await extra.taskStore.createTask({ ttl: request.params.task.ttl });
    await extra.taskStore.storeTaskResult(task.taskId, "completed", result);
    return { task };
  };
  client.setRequestHandler(types.CreateMessageRequestSchema, asTask({ model: "lab", role: "assistant", content: { type: "text", text: "sampled" } }));
  client.setRequestHandler(types.ElicitRequestSchema, asTask({ action: "accept", content: { name: "Ada", check: true } }));
  for (const [name, args] of [["trigger-sampling-request-async", { prompt: "say", maxTokens: 5 }], ["trigger-elicitation-request-async", {}]])
    say(name, await client.callTool({ name, arguments: args }));
  let asked = 0;
  client.setRequestHandler(types.ElicitRequestSchema, (r) => (asked++, { action: "accept", content: { interpretation: "snake" } }));
  let task;
  for await (const m of tasks.callToolStream({ name: "simulate-research-query", arguments: { topic: "python", ambiguous: true } })) {
    if (m.type === "taskCreated") say("created", Object.keys((task = m.task)).sort());
    if (m.type === "result") say("result", m.result);
    if (m.type === "error") say("error", String(m.error));
  }
  const fixed = ({ taskId, createdAt, lastUpdatedAt, ...rest }) => [taskId === task.taskId, rest];
  say("asked", asked);
  say("task", fixed(await tasks.getTask(task.taskId)));
  say("again", await tasks.getTaskResult(task.taskId, types.CallToolResultSchema));
  say("tasks", (await tasks.listTasks()).tasks.map(fixed));
  const long = tasks.callToolStream({ name: "simulate-research-query", arguments: { topic: "bees" } });
  task = (await long.next()).value.task;
  say("cancelled", fixed(await tasks.cancelTask(task.taskId)));
  say("then", (await tasks.getTask(task.taskId)).status);
  say("nobody's", await tasks.getTask("0".repeat(32)).catch(String));
  say("without a task", await client.callTool({ name: "simulate-research-query", arguments: { topic: "x" } }).catch(String));
  process.exit(0);
}
say("server", [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
say("ping", await client.ping());
say("logging", await client.setLoggingLevel("error"));
say("tools", await client.listTools());
say("prompts", await client.listPrompts());
say("prompt", await client.getPrompt({ name: "simple-prompt" }));
say("completion", await client.complete({ ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "E" } }));
const { resources } = await client.listResources();
say("resources", resources);
say("templates", await client.listResourceTemplates());
say("resource", await client.readResource({ uri: resources[0].uri }));
// The last step comes with the result, and this client at times forgets it then.
const onprogress = (name) => (p) => p.progress < p.total && progress.push([name, p.progress, p.total]);
const call = async (name, args) => say(name, await client.callTool({ name, arguments: args }, undefined, { onprogress: onprogress(name) }));
await call("echo", { message: "hello" });
await call("get-sum", { a: 1, b: 2.5 });
await call("get-tiny-image", {});
await call("get-structured-content", { location: "New York" });
await call("get-resource-links", { count: 3 });
await call("trigger-sampling-request", { prompt: "say", maxTokens: 5 });
await call("trigger-elicitation-request", {});
await call("get-roots-list", {});
await call("trigger-long-running-operation", { duration: 1, steps: 4 });
say("progress", progress);
say("subscribe", await client.subscribeResource({ uri: resources[0].uri }));
await client.callTool({ name: "toggle-subscriber-updates", arguments: {} });
say("updated", await update);
say("unsubscribe", await client.unsubscribeResource({ uri: resources[0].uri }));
const stop = new AbortController();
const long = client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 3600, steps: 3600 } }, undefined, { signal: stop.signal, onprogress: () => stop.abort("enough") });
await long.then((r) => say("cancelled", r), () => say("cancelled", "yes"));
say("ping", await client.ping());
process.exit(0); // the updates go on
