// A run is looked at, replayed and run again beside the first.
import { beforeAll, expect, it } from "vitest";

import { bot, localAgent, person, until } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const READER = { name: "Rita", email: "rita@example.org", password: "reading but not prompts" };
let agentId: string;
let runId: string;

beforeAll(async () => {
  agentId = await localAgent(world, "Repeated");
  await world.modelWill({ pieces: ["The first answer."], seconds: 0.3 });
  const event = { agent_id: agentId, input: { text: "Say something" } };
  runId = (await world.api<{ run: { run_id: string } }>("POST", "/events?wait=result", event)).run.run_id;
});

it("shows the steps of a run with the duration of its model calls", async () => {
  const { page } = await visit(`/runs/${runId}`);
  await page.getByRole("heading", { name: "Repeated" }).waitFor();

  await page.getByText("The first answer.").first().waitFor();
  await page.getByText("house-large").first().waitFor();
  await page.getByText("420").first().waitFor();
});

it("shows prompt, parameters and answer of a model call", async () => {
  const { page } = await visit(`/runs/${runId}`);
  await page
    .getByRole("button", { name: word("runs.promptAndAnswer") })
    .first()
    .click();

  await page
    .getByRole("region", { name: word("runs.prompt"), exact: true })
    .getByText("Be kind.")
    .first()
    .waitFor();
  await page
    .getByRole("region", { name: word("runs.prompt"), exact: true })
    .getByText("Say something")
    .first()
    .waitFor();
  await page.getByRole("region", { name: word("runs.parameters"), exact: true }).waitFor();
  await page
    .getByRole("region", { name: word("runs.answer"), exact: true })
    .getByText("The first answer.")
    .waitFor();
});

it("hides prompts from users without the permission", async () => {
  await person(world, READER, "viewer");
  const { page } = await visit(`/runs/${runId}`, { as: READER });
  await page.getByText("house-large").first().waitFor();
  await page.getByText("The first answer.").first().waitFor();
  expect(await page.getByRole("button", { name: word("runs.promptAndAnswer") }).count()).toBe(0);
});

it("shows steps in order of their start, with times relative to the run", async () => {
  const { page } = await visit(`/runs/${runId}`);
  await page.getByText("The first answer.").first().waitFor();
  const steps = await page.getByRole("main").locator("ol > li").allInnerTexts();
  const kinds = ["step.event", "step.model", "step.message", "step.end"].map((kind) =>
    steps.findIndex((step) => step.startsWith(word(kind))),
  );
  expect(kinds).toEqual([...kinds].sort((a, b) => a - b));
  const offsets = (await page.locator("ol > li time").allInnerTexts()).map(milliseconds);
  expect(offsets.slice(1)).toEqual(offsets.slice(1).sort((a, b) => a - b));
  expect(offsets[steps.findIndex((step) => step.startsWith(word("step.message")))]).toBeGreaterThanOrEqual(300);
});

/** Parses an offset as the page writes it. */
function milliseconds(text: string): number {
  const [, sign, number, unit] = /^([+−])([\d.]+)\s*(ms|s)$/.exec(text.trim())!;
  return (sign === "−" ? -1 : 1) * Number(number) * (unit === "s" ? 1000 : 1);
}

it("replays a run as the chat showed it", async () => {
  const { page } = await visit(`/runs/${runId}`);
  await page.getByRole("tab", { name: word("runs.replay") }).click();
  const film = page.getByRole("region", { name: word("runs.replay") });
  await film.getByText("The first answer.").waitFor();

  await film.getByRole("button", { name: word("runs.fromStart") }).click();
  await film.getByText("The first answer.").waitFor({ state: "detached" });
  await film.getByRole("button", { name: word("runs.play") }).click();
  await film.getByText("The first answer.").waitFor();
});

it("shows a rerun beside the original with the differences", async () => {
  await world.modelWill({ pieces: ["Quite another answer."] });
  const { page } = await visit(`/runs/${runId}`);

  await page.getByRole("button", { name: word("runs.rerun") }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: word("runs.rerun") })
    .click();
  await page.waitForURL((address) => !address.pathname.endsWith(runId));
  await page.getByRole("tab", { name: word("runs.compare") }).click();

  const panel = page.getByRole("tabpanel");
  await panel.getByText("The first answer.").first().waitFor();
  await panel.getByText("Quite another answer.").first().waitFor();
});

it("finds a run by its answer", async () => {
  const { page } = await visit("/runs");
  await page.getByRole("searchbox", { name: word("runs.words") }).fill("first ANSWER");
  await page.waitForURL(/q=/);
  await page.getByRole("main").locator(`a[href^="/runs/${runId}"]`).first().waitFor();
});

it("filters runs and keeps the filters in the address", async () => {
  const { page } = await visit("/runs");
  await page.getByRole("combobox", { name: word("runs.agent"), exact: true }).selectOption(agentId);
  await page.waitForURL(/agent=/);
  await until("only its runs are shown", async () => {
    const rows = await page.getByRole("main").locator('a[href^="/runs/"]').allInnerTexts();
    return rows.length > 0 && rows.every((row) => row.includes("Repeated"));
  });

  await page.reload();
  await page.getByRole("main").locator('a[href^="/runs/"]').first().waitFor();
  expect(await page.getByRole("combobox", { name: word("runs.agent"), exact: true }).inputValue()).toBe(agentId);
});

it("links from a run to its agent, bot, sender and conversation, and shows the cost", async () => {
  const { botId, account } = await bot(world, "Linked", agentId);
  await world.modelWill({ pieces: ["Linked to everything."] });
  await world.say(account, "Where does this lead?", 77, { name: "Ida" });
  await world.answered(account, 1);
  const [run] = (await world.api<{ items: { run_id: string }[] }>("GET", `/runs?bot_id=${botId}`)).items;
  const { page } = await visit(`/runs/${run!.run_id}`);
  const main = page.getByRole("main");
  const to = (name: string) => main.getByRole("link", { name, exact: true }).first().getAttribute("href");
  await main.getByText("$0.0015").first().waitFor();

  expect(await to("Repeated")).toBe(`/agents/${agentId}`);
  expect(await to("Linked")).toBe(`/bots/${botId}`);
  await main.getByRole("link", { name: word("runs.conversation") }).click();
  await page.waitForURL(/conversation=/);
  await main.locator('a[href^="/runs/"]').getByText("Where does this lead?").waitFor();
  await until(
    "only the runs of the conversation are listed",
    async () => (await main.locator('a[href^="/runs/"]').count()) === 1,
  );
});

it("links from a run to all runs of its sender, also of one without a name", async () => {
  const { botId, account } = await bot(world, "Visited", agentId);
  // names, ids and texts hold one another
  const said = [
    [7701, "Ida", "Question 0"],
    [77011, "Ida 7701", "Question 1 for Ida"],
    [770, "", "Question 2"],
    [7701, "Ida", "Question 3"],
  ] as const;
  await world.modelWill(...said.map(() => ({ pieces: ["Hello Ida 7701."] })));
  for (const [at, [user, name, text]] of said.entries()) {
    await world.say(account, text, user, { name });
    await world.answered(account, at + 1);
  }
  const runs = (await world.api<{ items: { run_id: string; input_summary: string }[] }>("GET", `/runs?bot_id=${botId}`))
    .items;
  const { page } = await visit("/");
  const main = page.getByRole("main");
  const listed = async () =>
    (await main.locator('a[href^="/runs/"]').allInnerTexts()).map((row) => /Question \d/.exec(row)?.[0]);
  for (const [shown, text, own] of [
    ["Ida", "Question 0", ["Question 3", "Question 0"]],
    ["Ida 7701", "Question 1 for Ida", ["Question 1"]],
    ["770", "Question 2", ["Question 2"]],
  ] as const) {
    await page.goto(`/runs/${runs.find((run) => run.input_summary === text)!.run_id}`);
    await main.getByRole("link", { name: shown, exact: true }).click();
    await page.waitForURL(/\/runs\?.*actor=/);
    await until(`only runs of ${shown} are listed`, async () => JSON.stringify(await listed()) === JSON.stringify(own));
  }

  await page.goBack();
  await main.getByRole("link", { name: "770", exact: true }).click();
  await page.reload();
  await main.getByText("Question 2").waitFor();
  expect(await listed()).toEqual(["Question 2"]);
  await main.getByRole("button", { name: word("runs.oneSender") }).click();
  await until("the runs of all senders of the bot are listed", async () => (await listed()).length === said.length);
  expect(await main.getByRole("button", { name: word("runs.oneSender") }).count()).toBe(0);
  expect(page.url()).not.toContain("actor");
});

it("asks for confirmation before it cancels a run", async () => {
  const lasting = await localAgent(world, "Lasting");
  await world.modelWill({ pieces: ["This would go on", " and on."], gate: "never" });
  await world.api("POST", "/events", { agent_id: lasting, input: { text: "Talk" } });
  const status = async () =>
    (await world.api<{ items: { run_id: string; status: string }[] }>("GET", `/runs?agent_id=${lasting}`)).items[0];
  await until("it runs", async () => (await status())?.status === "running");
  const { page } = await visit(`/runs/${(await status())!.run_id}`);
  const dialog = page.getByRole("dialog", { name: word("runs.cancelTitle") });

  await page.getByRole("button", { name: word("runs.cancel") }).click();
  await dialog.getByRole("button", { name: word("runs.cancelKeep") }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await status())!.status).toBe("running");

  await page.getByRole("button", { name: word("runs.cancel") }).click();
  await dialog.getByRole("button", { name: word("runs.cancel") }).click();
  await page.getByRole("main").getByText(word("state.cancelled"), { exact: true }).first().waitFor();
  expect((await status())!.status).toBe("cancelled");
  expect(await page.getByRole("button", { name: word("runs.cancel") }).count()).toBe(0);
});

it("keeps the menu on an unknown page, and shows no internal names in a decision trail", async () => {
  const { page } = await visit("/no/such/page");
  for (const path of ["/no/such/page", "/runs/none", "/agents/none", "/bots/none"]) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1, name: word("errors.missing") }).waitFor();
    await page
      .getByRole("navigation", { name: word("nav.label") })
      .getByRole("link", { name: word("nav.runs") })
      .waitFor();
    expect(await page.getByRole("main").innerText()).not.toMatch(/\/api\/v1/);
  }

  await page.goto(`/runs/${runId}?tab=why`);
  const trail = page.getByRole("tabpanel");
  await trail
    .getByText(/Run completed after/)
    .first()
    .waitFor();
  expect(await trail.innerText()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}|plugin:|[a-z]+_[a-z]+|message\.received/);
});
