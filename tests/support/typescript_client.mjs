// Runs the script of the client tests with the protocol's TypeScript client, and prints what it saw.
//
//   node typescript_client.mjs FOLDER MODE '{"url": …} or {"command": …, "args": […]}'
//
// FOLDER has the package in `node_modules`; MODE is `auto` or `legacy`.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, mode, where] = process.argv.slice(2);
const dist = join(folder, "node_modules", "@modelcontextprotocol", "client", "dist");
const load = (name) => import(pathToFileURL(join(dist, name)));
const { Client, StreamableHTTPClientTransport } = await load("index.mjs");
const { StdioClientTransport } = await load("stdio.mjs");

const server = JSON.parse(where);
const transport = server.url
  ? new StreamableHTTPClientTransport(new URL(server.url))
  : new StdioClientTransport(server);
const options = mode === "auto" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "test", version: "1" }, options);
await client.connect(transport);

const call = (name, given = {}) => client.callTool({ name, arguments: given });
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const echoed = (await call("echo", { value: [1, { a: "é" }] })).structuredContent;
const refused = (await call("refuse")).isError;
const unknown = await call("ecko").then(
  () => null,
  (error) => error.code,
);
const health = await client.readResource({ uri: "carrel://health" });
const numbers = Array.from({ length: 100 }, (_, number) => number);
const many = await Promise.all(numbers.map((value) => call("echo", { value })));
const crossed = many.filter((one, number) => one.structuredContent.value !== number).length;
await client.close();
const ok = JSON.parse(health.contents[0].text).ok;
console.log(JSON.stringify({ tools, echoed, refused, unknown, ok, crossed }));
