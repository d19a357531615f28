// A coding agent on the page: its program is granted, its run is watched, and its question is decided there.
import { beforeAll, expect, it } from "vitest";

import { agent, until } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const PLUGIN = "parlour/acp-agent";

beforeAll(async () => {
  await world.api("POST", "/plugins/install", {
    source: "bundled:acp-agent",
    granted: ["processes:other"],
  });
});

it("shows which coding agents are installed, how to install the others, and what each may do", async () => {
  const { page } = await visit("/plugins");
  const card = page.locator("section").filter({ has: page.getByText(`${PLUGIN} ·`) });
  await card.getByRole("button", { name: word("programs.title"), exact: true }).click();
  const kimi = card.getByRole("listitem").filter({ has: page.getByText("Kimi Code", { exact: true }) });
  await kimi.getByText("npm install -g node@24 @moonshot-ai/kimi-code").waitFor();
  expect(await kimi.getByText(word("plugins.ungranted"), { exact: true }).count()).toBe(1);
  await kimi.getByRole("button", { name: word("programs.risk"), exact: true }).click();
  await kimi
    .getByText(/the whole network/)
    .first()
    .waitFor();
});

it("shows plan and change while the coding agent waits, and the answer after its question was approved", async () => {
  const runner_config = await world.scriptedHarness();
  const agentId = await agent(world, "Coder", `plugin:${PLUGIN}/default`, {
    runner_config,
  });
  await world.api("POST", "/events", {
    agent_id: agentId,
    input: { text: "plan notes.txt" },
  });
  let runId = "";
  await until("a run", async () => {
    const { items } = await world.api<{ items: { run_id: string }[] }>("GET", `/runs?agent_id=${agentId}`);
    runId = items[0]?.run_id ?? "";
    return runId !== "";
  });

  const { page } = await visit(`/runs/${runId}`);
  await page.getByRole("heading", { name: word("action.harness_permission") }).waitFor();
  await page.getByText("Say how it went").waitFor();
  await page.getByText("notes.txt (+1 -0)").first().waitFor();
  await page.getByRole("button", { name: word("approvals.approve"), exact: true }).click();

  await page.getByText("notes.txt: b").first().waitFor();
  await page
    .getByText(/notes\.txt \+1/)
    .first()
    .waitFor();
  expect(await page.getByRole("button", { name: word("approvals.approve"), exact: true }).count()).toBe(0);
});
