// From nothing to a bot that answers, by hand: an agent, an account, a route that was tried before it was saved.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";

import { agent, bot, ECHO, writtenModel } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const ACCOUNT = 10_001;

async function createAgent(page: Page): Promise<void> {
  await page
    .getByRole("link", { name: word("agents.create") })
    .first()
    .click();
  await page.getByLabel(word("common.name")).fill("Librarian");
  await page.getByRole("radio", { name: /Local agent/ }).check({ force: true });
  await page.getByRole("button", { name: word("common.create") }).click();
  await page.getByRole("heading", { name: "Librarian" }).waitFor();
  expect(
    await page.getByRole("combobox", { name: "Model" }).first().inputValue(),
    "it starts with the configured model",
  ).toBe(await writtenModel(world));
  expect(await page.getByText("Knowledge bases").count(), "there is no knowledge base to choose").toBe(0);
  await page.getByRole("textbox", { name: word("common.description") }).fill("Knows every shelf");
  await page.getByRole("button", { name: word("common.save"), exact: true }).click();
  await page.getByText(word("common.saved")).waitFor();
}

async function connectBot(page: Page, port: number): Promise<void> {
  await page.goto("/bots/new");
  await page.getByRole("button", { name: /OneBot 11/ }).click();
  await page.getByLabel(word("common.name")).fill("Reading room");
  await page.getByLabel("Port").fill(String(port));
  await page.getByRole("button", { name: word("bots.connect") }).click();
  await page.getByRole("heading", { name: "Reading room" }).waitFor();
}

const routes = (page: Page) => page.getByRole("tabpanel").locator("ol").first().locator("> li");

/** A bot begins with a route to the first agent; it is to go to ours, for what is about books. */
async function editRoute(page: Page): Promise<void> {
  await routes(page).first().getByRole("button", { expanded: false }).click();
  await page.getByRole("combobox", { name: word("routes.agent") }).selectOption({ label: "Librarian" });
  await page.getByRole("combobox", { name: word("routes.addCondition") }).selectOption("text_keyword");
  await page.getByLabel(word("filter.text_keyword")).first().fill("book");
}

async function addRouteToNobody(page: Page): Promise<void> {
  await page.getByRole("button", { name: word("routes.add") }).click();
  await routes(page)
    .nth(1)
    .getByRole("combobox", { name: word("routes.handler") })
    .selectOption("drop");
}

async function move(page: Page, number: number, key: "ArrowUp" | "ArrowDown"): Promise<void> {
  await page.getByRole("button", { name: word("routes.move", { number }) }).press(key);
}

/** Held at its handle and let go below the other one. */
async function drag(page: Page, number: number, below: number): Promise<void> {
  const middle = async (number: number) => {
    const { x, y, width, height } = (await page
      .getByRole("button", { name: word("routes.move", { number }) })
      .boundingBox())!;
    return { x: x + width / 2, y: y + height / 2 };
  };
  const [from, to] = [await middle(number), await middle(below)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y + 40, { steps: 8 });
  await page.mouse.up();
}

async function tried(page: Page, text: string): Promise<string> {
  await page.getByLabel(word("dryRun.text"), { exact: true }).fill(text);
  const answered = page.waitForResponse((response) => response.url().endsWith("/routes/dry-run"));
  await page.getByRole("button", { name: word("dryRun.try") }).click();
  expect((await answered).status()).toBe(200);
  return page
    .getByRole("status")
    .filter({ has: page.getByRole("list") })
    .innerText();
}

it("creates an agent and a bot, tests a route, and shows the answered message", async () => {
  await writtenModel(world);
  await world.modelWill({ pieces: ["The third shelf on the left."] });
  const { page } = await visit("/agents");
  await createAgent(page);
  const port = await world.freePort();
  await connectBot(page, port);
  await world.connect(port, ACCOUNT);
  await page.getByRole("heading", { name: "Reading room" }).getByText(word("state.connected")).waitFor();

  await editRoute(page);
  await addRouteToNobody(page);
  expect(await tried(page, "Where is my book?")).toContain(word("handler.agent"));
  expect(await tried(page, "Where am I?")).toContain(word("handler.drop"));
  await move(page, 2, "ArrowUp");
  expect(await tried(page, "Where is my book?")).toContain(word("handler.drop"));
  await drag(page, 1, 2);
  expect(await tried(page, "Where is my book?")).toContain(word("handler.agent"));
  await page.getByRole("button", { name: word("common.save"), exact: true }).click();
  await page.getByRole("button", { name: word("common.save"), exact: true }).waitFor({ state: "detached" });

  await world.say(ACCOUNT, "Where is my book?", 1);
  expect(await world.answered(ACCOUNT, 1)).toEqual(["The third shelf on the left."]);
  await page.getByRole("tab", { name: word("bots.events") }).click();
  await page.getByRole("listitem").filter({ hasText: "Where is my book?" }).getByText(word("runs.why")).click();
  await page.getByText(/A reply was sent/).waitFor();

  await page.getByRole("link", { name: word("nav.runs") }).click();
  await page
    .getByRole("link", { name: /Librarian/ })
    .filter({ hasText: "Reading room" })
    .first()
    .click();
  await page.getByText("The third shelf on the left.").first().waitFor();
});

it("shows routes in match order, also those made over HTTP, and keeps the order", async () => {
  const agentId = await agent(world, "Porter", ECHO);
  const { botId } = await bot(world, "Front door", agentId);
  await world.api("PUT", `/bots/${botId}/routes`, [
    { event_type: "*", handler_type: "drop" },
    { event_type: "message.received", handler_type: "agent", handler_config: { agent_id: agentId } },
  ]);
  const { page } = await visit(`/bots/${botId}`);
  await routes(page).nth(0).getByText("Porter").waitFor();
  await routes(page).nth(1).getByText(word("handler.drop")).waitFor();
  expect(await tried(page, "Hello")).toContain(word("handler.agent"));

  await routes(page).nth(1).getByRole("button", { expanded: false }).click();
  await page.getByLabel(word("routes.note")).fill("the rest");
  await page.getByRole("button", { name: word("common.save"), exact: true }).click();
  await page.getByRole("button", { name: word("common.save"), exact: true }).waitFor({ state: "detached" });
  expect(await tried(page, "Hello")).toContain(word("handler.agent"));
});

it("warns about unsaved routes and keeps the open tab in the address", async () => {
  const agentId = await agent(world, "Usher", ECHO);
  const { botId } = await bot(world, "Side door", agentId);
  const { page } = await visit(`/bots/${botId}`);
  const question = page.getByRole("dialog", { name: word("unsaved.title") });
  await page.getByRole("button", { name: word("routes.add") }).click();

  await page.getByRole("tab", { name: word("bots.events") }).click();
  await question.getByRole("button", { name: word("unsaved.stay") }).click();
  await question.waitFor({ state: "hidden" });
  expect(await routes(page).count(), "what was added is still there").toBe(2);
  await page.getByRole("link", { name: word("nav.home") }).click();
  await question.getByRole("button", { name: word("unsaved.leave") }).click();
  await page.getByRole("heading", { name: word("nav.home"), level: 1 }).waitFor();

  await page.goBack();
  await page.getByRole("tab", { name: word("bots.events") }).click();
  await page.waitForURL(/tab=events/);
  await page.reload();
  await page.getByRole("tab", { name: word("bots.events"), selected: true }).waitFor();
});

it("refuses a number out of range at its field and keeps changes across an agent's tabs", async () => {
  const agentId = await agent(world, "Timed", ECHO);
  const { page } = await visit(`/agents/${agentId}?tab=behaviour`);
  const timeout = page.getByLabel(word("agents.timeout"), { exact: true });
  await timeout.fill("100000");
  await page.getByText(word("form.between", { min: 0, max: "86,400" })).waitFor();
  await page.getByRole("button", { name: word("common.save"), exact: true }).click();
  expect((await world.api<{ timeout_seconds: number }>("GET", `/agents/${agentId}`)).timeout_seconds).toBe(300);

  await timeout.fill("60");
  await page.getByRole("tab", { name: word("agents.tabForm") }).click();
  await page.getByRole("button", { name: word("common.save"), exact: true }).click();
  await page.getByText(word("common.saved")).waitFor();
  expect((await world.api<{ timeout_seconds: number }>("GET", `/agents/${agentId}`)).timeout_seconds).toBe(60);
});
