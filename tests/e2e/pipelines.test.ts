// A pipeline from its making to the message that it limits: made, tried, bound to a route, and explained on the event.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";

import { agent, bot, ECHO } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const section = (page: Page, id: string) => page.getByRole("button", { name: new RegExp(word(`policySection.${id}`)) });
const dryRun = (page: Page) =>
  page
    .locator("section")
    .filter({ has: page.getByRole("heading", { name: word("pipelines.dryRun") }) })
    .getByRole("status");

async function makePipeline(page: Page): Promise<void> {
  await page.getByLabel(word("field.name"), { exact: false }).first().fill("Front desk");
  await page.getByRole("combobox", { name: word("routes.agent") }).selectOption({ label: "Concierge" });
  await page.getByRole("button", { name: word("pipelines.create") }).click();
  await page.getByRole("heading", { name: "Front desk", level: 1 }).waitFor();
}

async function tryMessages(page: Page): Promise<void> {
  await page.getByRole("combobox", { name: word("pipelines.sampleChat") }).selectOption("private");
  await page.getByLabel(word("pipelines.sampleText"), { exact: true }).fill("# a note");
  await dryRun(page)
    .getByText(word("pipelines.answers", { name: "Concierge" }))
    .waitFor();
  await section(page, "wake").click();
  await page.getByLabel(word("policyField.wake_ignore_prefixes"), { exact: true }).fill("#");
  await dryRun(page).getByText(word("pipelines.unanswered")).waitFor();
  expect(await dryRun(page).innerText()).toContain("ignored");
  await page.getByLabel(word("pipelines.sampleText"), { exact: true }).fill("hello");
  await dryRun(page)
    .getByText(word("pipelines.answers", { name: "Concierge" }))
    .waitFor();
}

async function addLimit(page: Page): Promise<void> {
  const name = word("policyEntry.limits");
  await section(page, "limits").click();
  await page.getByRole("button", { name: word("policies.add", { name }) }).click();
  const entry = page.getByRole("group", { name: `${name} 1` });
  await entry.getByLabel(word("policyField.count"), { exact: true }).fill("1");
  await entry.getByRole("combobox", { name: word("policyField.window") }).selectOption("day");
  await entry.getByRole("combobox", { name: word("policyField.over") }).selectOption("tell");
  await entry.getByLabel(word("policyField.tell"), { exact: true }).fill("Enough for today.");
}

async function bindRoute(page: Page, botId: string): Promise<void> {
  await page.goto(`/bots/${botId}`);
  const route = page.getByRole("tabpanel").locator("ol").first().locator("> li").first();
  await route.getByRole("button", { expanded: false }).click();
  await route.getByRole("combobox", { name: word("routes.handler") }).selectOption("pipeline");
  await route.getByRole("combobox", { name: word("handler.pipeline") }).selectOption({ label: "Front desk" });
  await page.getByRole("button", { name: word("common.save"), exact: true }).click();
  await page.getByRole("button", { name: word("common.save"), exact: true }).waitFor({ state: "detached" });
}

it("is made, tried, bound to a route, and says on the event why it limited a message", async () => {
  const agentId = await agent(world, "Concierge", ECHO);
  const { botId, account } = await bot(world, "Lobby", agentId);
  const { page } = await visit("/pipelines");
  await makePipeline(page);
  await tryMessages(page);
  await addLimit(page);
  await page.getByRole("button", { name: word("common.save"), exact: true }).click();
  await page.getByText(word("common.saved")).waitFor();
  await bindRoute(page, botId);

  await world.say(account, "Good morning", 1);
  expect(await world.answered(account, 1)).toEqual(["Good morning"]);
  await world.say(account, "Good evening", 1);
  expect(await world.answered(account, 2)).toEqual(["Good morning", "Enough for today."]);
  await page.getByRole("tab", { name: word("bots.events") }).click();
  await page.getByRole("listitem").filter({ hasText: "Good evening" }).getByText(word("runs.why")).click();
  await page.getByText(/1 messages per sender and day were answered/).waitFor();
});
