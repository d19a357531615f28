// MCP servers that are commands are added on the page: by pasting their JSON or by form, each confirmed in words.
import { fileURLToPath } from "node:url";

import { afterAll, expect, it } from "vitest";

import { until } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PYTHON = `${ROOT}.venv/bin/python`;
const SCRIPT = `${ROOT}tests/fixtures/plugins/library_server.py`;

type Server = {
  server_id: string;
  name: string;
  unsandboxed_by: string;
  environment: Record<string, string>;
  status: { state: string };
};
const servers = async () => (await world.api<{ items: Server[] }>("GET", "/mcp-servers")).items;
const named = async (name: string) => (await servers()).find((server) => server.name === name);

afterAll(async () => {
  for (const server of await servers()) await world.api("DELETE", `/mcp-servers/${server.server_id}`);
});

it("adds servers from a pasted mcpServers JSON after confirmation with the phrase", async () => {
  const { page } = await visit("/tools");
  await page.getByRole("button", { name: word("tools.addServer") }).click();
  await page.getByRole("tab", { name: word("tools.byPaste") }).click();
  const pasted = { mcpServers: { "My Library": { command: PYTHON, args: [SCRIPT], env: { TOKEN: "sealed-token" } } } };
  await page.getByLabel(word("tools.pasteLabel")).fill(JSON.stringify(pasted, null, 2));
  const confirm = page.getByLabel(word("tools.confirm", { words: word("tools.confirmWords") }));
  const add = page.getByRole("button", { name: word("tools.pasteAdd_one", { count: 1 }) });

  await confirm.fill("yes, please");
  await add.click();
  await page.getByText(/would run outside any sandbox/).waitFor();
  expect(await named("my-library")).toBeUndefined();

  await confirm.fill(word("tools.confirmWords"));
  await add.click();
  await until("the server is connected", async () => (await named("my-library"))?.status.state === "connected");
  await page.getByText("my-library.borrow").waitFor();
  const server = await named("my-library");
  expect(server?.unsandboxed_by).toMatch(/^user:/);
  expect(server?.environment).toEqual({ TOKEN: "********" });
});

it("reports the error in a pasted JSON", async () => {
  const { page } = await visit("/tools");
  await page.getByRole("button", { name: word("tools.addServer") }).click();
  await page.getByRole("tab", { name: word("tools.byPaste") }).click();
  await page.getByLabel(word("tools.pasteLabel")).fill('{"mcpServers": ');
  await page.getByText(word("tools.pasteNotJson")).waitFor();
});

it("adds a server by form and asks for confirmation again when its command changes", async () => {
  const { page } = await visit("/tools");
  await page.getByRole("button", { name: word("tools.addServer") }).click();
  await page.getByLabel(word("common.name")).fill("by-form");
  await page.getByLabel(word("tools.transport")).selectOption("stdio");
  await page.getByRole("textbox", { name: word("tools.command") }).fill(`${PYTHON}\n${SCRIPT}`);
  await page.getByRole("switch", { name: word("tools.sandboxed") }).click();
  await page.getByLabel(word("tools.confirm", { words: word("tools.confirmWords") })).fill(word("tools.confirmWords"));
  await page.getByRole("button", { name: word("common.add"), exact: true }).click();
  await until("the server is connected", async () => (await named("by-form"))?.status.state === "connected");

  await page.getByRole("button", { name: word("models.edit", { name: "by-form" }) }).click();
  const command = page.getByRole("textbox", { name: word("tools.command") });
  await command.waitFor();
  const confirm = page.getByLabel(word("tools.confirm", { words: word("tools.confirmWords") }));
  expect(await confirm.count()).toBe(0);
  await command.fill(`${PYTHON}\n-c\nprint()`);
  await confirm.waitFor();
});
