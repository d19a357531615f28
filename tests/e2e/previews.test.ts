// A preview: an administrator talks to a bot and to a pipeline as another person, and the platform gets nothing.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";

import { agent, bot, ECHO, LOCAL, writtenModel } from "./support/furnish";
import { VIEWER } from "./support/people";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const KEEP = "test/borrowing.keep";
const history = (page: Page) => page.getByRole("log", { name: word("previews.history") });

async function say(page: Page, text: string): Promise<void> {
  const message = page.getByRole("textbox", { name: word("previews.message"), exact: true });
  await message.fill(text);
  await page.getByRole("button", { name: word("chat.send") }).click();
  await page.waitForFunction(
    ([label]) => document.querySelector<HTMLTextAreaElement>(`textarea[aria-label="${label}"]`)?.value === "",
    [word("previews.message")],
  );
}

const choose = (page: Page, key: string, value: string) =>
  page.getByRole("combobox", { name: word(key), exact: true }).selectOption(value);
const fill = (page: Page, key: string, value: string) => page.getByLabel(word(key), { exact: true }).fill(value);

it("answers on the page of a bot as its routes decide for the person, and sends nothing to the platform", async () => {
  const agentId = await agent(world, "Porter", ECHO);
  const { botId, account } = await bot(world, "Gate", agentId);
  const filters = { chat_type: "group", groups: ["42"], roles: ["admin"], mentions_bot: true };
  const route = { event_type: "message.*", handler_type: "agent", handler_config: { agent_id: agentId } };
  await world.api("PUT", `/bots/${botId}/routes`, [
    { ...route, filters },
    { ...route, filters: { users: ["1"] } },
  ]);
  const { page } = await visit(`/bots/${botId}`);
  await page.getByRole("tab", { name: word("previews.title") }).click();

  await choose(page, "pipelines.sampleChat", "group");
  await fill(page, "previews.chatId", "42");
  await choose(page, "previews.role", "admin");
  await say(page, "Open the gate");
  await history(page)
    .getByRole("article", { name: word("chat.agent") })
    .filter({ hasText: "Open the gate" })
    .waitFor();

  await choose(page, "previews.role", "member");
  await say(page, "Open it for me");
  await page.getByText(word("previews.unanswered")).waitFor();
  await page.getByRole("button", { name: word("runs.why") }).click();
  await page
    .getByText(/not among the roles|role/)
    .first()
    .waitFor();

  await world.say(account, "A real guest", 1);
  expect(await world.answered(account, 1)).toEqual(["A real guest"]);

  await page.getByRole("button", { name: word("previews.forget") }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: word("common.delete"), exact: true })
    .click();
  await history(page).getByText(word("previews.empty")).waitFor();
});

it("asks on the page of a pipeline before a tool changes something", async () => {
  await world.install("borrowing.py");
  const runner_config = { model: { primary: await writtenModel(world), fallbacks: [] }, tools: [KEEP] };
  const resource_policy = { skills: [], tools: [KEEP] };
  const agentId = await agent(world, "Keeper", LOCAL, { runner_config, resource_policy });
  const made = await world.api<{ pipeline_id: string }>("POST", "/pipelines", { name: "Vault", agent_id: agentId });
  const call = { index: 0, id: "c1", function: { name: KEEP.replace(/\W/g, "_"), arguments: '{"value": "a ring"}' } };
  await world.modelWill({ tool_calls: [call] }, { pieces: ["It is kept."] });
  const { page } = await visit(`/pipelines/${made.pipeline_id}?tab=preview`);
  await page.getByRole("textbox", { name: word("previews.message"), exact: true }).fill("Keep my ring");
  await page.getByRole("button", { name: word("chat.send") }).click();
  await page.getByRole("button", { name: word("approvals.approve") }).click();
  await history(page).getByText("It is kept.").waitFor();
});

it("is offered to administrators only", async () => {
  const { botId } = await bot(world, "Wall", await agent(world, "Mason", ECHO));
  await world.api("POST", "/users", { ...VIEWER, email: "looks@example.org", role: "viewer" });
  const { page } = await visit(`/bots/${botId}?tab=preview`, { as: { ...VIEWER, email: "looks@example.org" } });
  await page.getByText(word("previews.adminsOnly")).waitFor();
});
