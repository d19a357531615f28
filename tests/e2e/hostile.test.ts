// Text of users, models and tools runs nothing, loads nothing, and can't imitate the page itself.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { agent, bot, ECHO, localAgent, until, visitor } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

/** The address of a server that must never receive a request. */
const seen: { path: string; referer: string | undefined }[] = [];
const elsewhere = createServer(({ url = "", headers }, response) => {
  seen.push({ path: url, referer: headers.referer });
  response.end();
});
let trap: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  trap = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
});
afterAll(() => elsewhere.close());

const hostile = (trap: string) => `START <script>window.hacked = "script"</script>
<img src="${trap}/html-image" onerror="window.hacked = 'onerror'">
<iframe src="${trap}/frame"></iframe><link rel="stylesheet" href="${trap}/style"><svg onload="window.hacked='svg'"></svg>
<div role="dialog" aria-label="Your session is over" style="position:fixed;inset:0;z-index:99">Log in again <input type="password"></div>

![picture](${trap}/markdown-image) [click](javascript:window.hacked='link') [inside](/settings) <${trap}/auto>

[reference]: ${trap}/reference "x"
![reference]

<form action="${trap}/form"><button>Approve</button></form> END`;

type Window = { hacked?: string };

async function look(path: string, tab?: string): Promise<void> {
  const { page } = await visit(path);
  if (tab) await page.getByRole("tab", { name: tab }).click();
  await page.getByRole("main").getByText("START").locator("visible=true").first().waitFor();
  await harmless(page);
}

async function harmless(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  expect(await page.evaluate(() => (globalThis as Window).hacked)).toBeUndefined();
  const main = page.getByRole("main");
  expect(await main.locator("script, iframe, link, style, object, embed, form[action]").count()).toBe(0);
  expect(await main.locator("input[type=password], [role=dialog]").count()).toBe(0);
  expect(await main.locator(`img[src^="http"], [style*="fixed"]`).count()).toBe(0);
  const addresses = await main
    .locator("article a, li a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
  expect(addresses.filter((address) => address.startsWith("javascript"))).toEqual([]);
  expect(seen).toEqual([]);
}

it("shows hostile text of users and models as text in the chat", async () => {
  const agentId = await localAgent(world, "Hostile");
  await world.modelWill({ pieces: [hostile(trap)], reasoning: hostile(trap) });
  const { page } = await visit(`/chat/${agentId}`);
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill(hostile(trap));
  await page.getByRole("button", { name: word("chat.send") }).click();
  const answer = page.getByRole("article", { name: word("chat.agent") });
  await answer.filter({ hasText: "START" }).waitFor();

  expect(await answer.getByRole("link", { name: "inside" }).count()).toBe(0);
  expect(await answer.getByRole("link", { name: "click" }).count()).toBe(0);
  expect(
    await answer
      .locator("a")
      .evaluateAll((links) => links.every((link) => link.getAttribute("rel")?.includes("noopener"))),
  ).toBe(true);
  await look(`/chat/${agentId}`);
});

it("shows hostile text of a platform message as text on the bot and run pages", async () => {
  const agentId = await agent(world, START_NAME, ECHO);
  const { botId, account } = await bot(world, "START <b>bot</b>", agentId);
  await world.say(account, hostile(trap), 1);
  await world.answered(account, 1);
  await until("the run is over", async () => (await runs(agentId)).every(({ status }) => status === "completed"));
  const [run] = await runs(agentId);

  await look(`/bots/${botId}`, word("bots.events"));
  for (const path of ["/agents", "/runs", `/runs/${run?.run_id}`]) await look(path);
});

it("shows hostile tool results as text, with any length and any characters", async () => {
  const agentId = await visitor(world, "Curious");
  const event = { agent_id: agentId, input: { text: `fetch ${trap}` } };
  const { run } = await world.api<{ run: { run_id: string } }>("POST", "/events?wait=result", event);
  const { page } = await visit(`/runs/${run.run_id}`);
  await page.getByText("I have looked it up.").first().waitFor();

  for (const fold of await page.getByRole("main").getByText(word("runs.gave")).all()) await fold.click();
  await page.getByRole("main").locator("pre", { hasText: "RESULT <script>" }).first().waitFor();
  await page.getByRole("main").locator("pre", { hasText: "END" }).first().waitFor();
  await harmless(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(width).toBeLessThanOrEqual(0);
});

it("loads an external image only on request, and sends no referrer", async () => {
  const agentId = await localAgent(world, "Painter");
  await world.modelWill({ pieces: [`Look: ![A heron](${trap}/heron.png)`] });
  const { page, context } = await visit(`/chat/${agentId}`);
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill("Paint me a bird");
  await page.getByRole("button", { name: word("chat.send") }).click();
  const link = page
    .getByRole("article", { name: word("chat.agent") })
    .getByRole("link", { name: word("markdown.openImage", { label: "A heron" }) });
  await link.waitFor();
  await page.waitForLoadState("networkidle");
  expect(seen).toEqual([]);

  const [opened] = await Promise.all([context.waitForEvent("page"), link.click()]);
  await opened.waitForLoadState();
  expect(seen.find(({ path }) => path === "/heron.png")).toEqual({ path: "/heron.png", referer: undefined });
  expect(await page.locator(`img[src^="http"]`).count()).toBe(0);
  seen.length = 0;
});

const START_NAME = `START <img src=x onerror="window.hacked='name'">`;
const runs = async (agentId: string) =>
  (await world.api<{ items: { run_id: string; status: string }[] }>("GET", `/runs?agent_id=${agentId}`)).items;
