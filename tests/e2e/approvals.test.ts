// An agent asks, a person in the browser says yes, and the platform does it.
import { expect, it } from "vitest";

import { bot, doorkeeper } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const GROUP = 7;
const EVE = 3;

it("shows a requested action and executes it when it is approved", async () => {
  const agentId = await doorkeeper(world, "Keeper", EVE, 30);
  const { account, botId } = await bot(world, "The group's bot", agentId, [GROUP]);
  const { page } = await visit("/approvals");
  await page.getByRole("heading", { level: 1, name: word("nav.approvals") }).waitFor();

  await world.say(account, "Eve is rude again", 1, { group: GROUP, name: "Ida" });
  await page.getByRole("button", { name: word("approvals.approve") }).waitFor();
  await page.getByText(word("approvals.requester", { who: "Ida (1)" })).waitFor();
  await page.getByRole("textbox", { name: word("approvals.reason") }).fill("She was rude");
  await page.getByRole("button", { name: word("approvals.approve") }).click();

  expect(await world.called(account, "set_group_kick")).toMatchObject({ group_id: GROUP, user_id: EVE });
  await page.getByText(word("state.approved")).first().waitFor();
  await page.getByText("She was rude").waitFor();
  expect(await page.getByRole("button", { name: word("approvals.approve") }).count()).toBe(0);

  await page.goto(`/bots/${botId}`);
  await page.getByRole("tab", { name: word("bots.events") }).click();
  await page.getByRole("listitem").filter({ hasText: "Eve is rude again" }).getByText(word("runs.why")).click();
  await page.getByText(word("why.action_pending", { action: word("action.member_kick") })).waitFor();
  await page.getByText(/approved “Remove a member”: She was rude/).waitFor();
});
