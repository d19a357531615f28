// A talk in the browser: it grows as it is written, can be steered and stopped, and nothing that was typed is lost.
import { text as textOf } from "node:stream/consumers";

import { expect, it } from "vitest";
import type { Page } from "playwright-core";

import { agent, bot, ECHO, localAgent, until, visitor } from "./support/furnish";
import { OWNER } from "./support/people";
import { forgetSession, visit, world } from "./support/visit";
import { word } from "./support/words";

const box = (page: Page) => page.getByRole("textbox", { name: word("chat.placeholder") });
const answer = (page: Page, text: string | RegExp) =>
  page.getByRole("article", { name: word("chat.agent") }).filter({ hasText: text });
const own = (page: Page, text: string) =>
  page.getByRole("article", { name: word("chat.you") }).filter({ hasText: text });

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await page.getByRole("button", { name: word("chat.send") }).click();
}

type Run = { run_id: string; status: string };
const runs = async (agentId: string) => (await world.api<{ items: Run[] }>("GET", `/runs?agent_id=${agentId}`)).items;

it("streams an answer and renders its Markdown", async () => {
  const agentId = await localAgent(world, "Streaming");
  await world.modelWill({ pieces: ["Here is **some", " bold text** and `code`."], gate: "stream" });
  const { page } = await visit(`/chat/${agentId}`);

  await say(page, "Show me");
  await answer(page, "Here is").waitFor();
  expect(await answer(page, "and code").count()).toBe(0);
  await world.openGate("stream");

  await answer(page, "Here is some bold text and code.").waitFor();
  await answer(page, "Here is").locator("strong", { hasText: "some bold text" }).waitFor();
  await answer(page, "Here is").locator("code", { hasText: "code" }).waitFor();
});

it("steers the active run", async () => {
  const agentId = await localAgent(world, "Steered");
  await world.modelWill(
    { pieces: ["I begin", " in general."], gate: "steer" },
    { pieces: ["Now in particular about cats."] },
  );
  const { page } = await visit(`/chat/${agentId}`);

  await say(page, "Tell me something");
  await answer(page, "I begin").waitFor();
  await say(page, "About cats, please");
  await own(page, "About cats, please").waitFor();
  await until(
    "the run has taken it",
    async () => (await world.api<{ items: { text: string }[] }>("GET", `/runs?agent_id=${agentId}`)).items.length === 1,
  );
  await world.openGate("steer");

  await answer(page, "Now in particular about cats.").waitFor();
  await until("its run is over", async () => (await runs(agentId)).every((run) => run.status === "completed"));
  expect(await runs(agentId)).toHaveLength(1);
});

it("stops a run", async () => {
  const agentId = await localAgent(world, "Stopped");
  await world.modelWill({ pieces: ["This would go on", " and on."], gate: "never" });
  const { page } = await visit(`/chat/${agentId}`);

  await say(page, "Talk");
  await answer(page, "This would go on").waitFor();
  await page.getByRole("button", { name: word("chat.stop") }).click();

  await page.getByText(word("chat.stopped")).waitFor();
  await page.getByRole("button", { name: word("chat.stop") }).waitFor({ state: "detached" });
  expect((await runs(agentId)).map((run) => run.status)).toEqual(["cancelled"]);
});

it("shows the same messages in two tabs", async () => {
  const agentId = await localAgent(world, "Two tabs");
  await world.modelWill({ pieces: ["Hello to both", " of you."], gate: "tabs" });
  const { page, context } = await visit(`/chat/${agentId}`);
  const other = await context.newPage();
  await other.goto(`/chat/${agentId}`);
  await box(other).waitFor();

  await say(page, "Hello from the first");
  for (const tab of [page, other]) await answer(tab, "Hello to both").waitFor();
  await world.openGate("tabs");
  for (const tab of [page, other]) {
    await answer(tab, "Hello to both of you.").waitFor();
    await own(tab, "Hello from the first").waitFor();
  }
});

it("sends a file with a message and shows the file of the answer", async () => {
  const agentId = await visitor(world, "Filing");
  const { page } = await visit(`/chat/${agentId}`);
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: word("chat.attach") }).click();
  await (await choosing).setFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a quiet note") });
  await page.getByRole("button", { name: word("chat.removeFile", { name: "note.txt" }) }).waitFor();
  await say(page, "file please");

  await own(page, "file please").getByRole("link", { name: "note.txt" }).waitFor();
  const link = answer(page, "1 file in capitals.").getByRole("link", { name: "loud note.txt" });
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  expect(await textOf(await download.createReadStream())).toBe("A QUIET NOTE");

  await page.reload();
  await answer(page, "1 file in capitals.").getByRole("link", { name: "loud note.txt" }).waitFor();
});

it("shows an approval in the chat and applies the decision made there", async () => {
  const desk = await bot(world, "Desk", await agent(world, "Desk", ECHO));
  const agentId = await visitor(world, "Messenger");
  const { page } = await visit(`/chat/${agentId}`);

  await say(page, `tell ${desk.botId}`);
  const asked = page.getByRole("region", { name: word("chat.approval") });
  await asked.getByText("Somebody is at the door.").waitFor();
  await asked.getByRole("button", { name: word("approvals.approve") }).click();

  expect(await world.answered(desk.account, 1)).toEqual(["Somebody is at the door."]);
  await answer(page, "The message is done.").waitFor();
  await asked.getByText(word("state.approved")).waitFor();
  expect(await asked.getByRole("button").count()).toBe(0);
});

it("keeps the draft when the session expires and continues after login", async () => {
  const agentId = await localAgent(world, "Patient");
  await world.modelWill({ pieces: ["Welcome back."] });
  const { page, context } = await visit(`/chat/${agentId}`);
  await box(page).fill("A long thought that nobody should lose");

  const csrf = (await (await context.request.get("/api/v1/auth/me")).json()) as { csrf_token: string };
  const headers = { Origin: world.place.address, "X-CSRF-Token": csrf.csrf_token };
  expect((await context.request.post("/api/v1/auth/logout", { headers })).status()).toBe(204);
  forgetSession(OWNER);
  await page.getByRole("button", { name: word("chat.send") }).click();

  const dialog = page.getByRole("dialog", { name: word("login.over") });
  await dialog.getByLabel(word("login.email")).fill(OWNER.email);
  await dialog.getByLabel(word("login.password")).fill(OWNER.password);
  await dialog.getByRole("button", { name: word("login.enter") }).click();

  await answer(page, "Welcome back.").waitFor();
  await own(page, "A long thought that nobody should lose").waitFor();
});

it("shows a model failure once with the full reason for the operator, and later answers below it", async () => {
  const agentId = await localAgent(world, "Failing");
  const refusals = Array.from({ length: 6 }, () => ({
    status: 401,
    pieces: ["organisation 7 does not know this key"],
  }));
  await world.modelWill(...refusals);
  const { page } = await visit(`/chat/${agentId}`);
  const sentence = /The model service refused access/;

  await say(page, "Are you there?");
  await page.getByRole("alert").filter({ hasText: sentence }).waitFor();
  await until("its run is over", async () => (await runs(agentId)).every((run) => run.status === "failed"));
  await page.reload();
  await page.getByRole("alert").filter({ hasText: sentence }).waitFor();
  await say(page, "Are you there now?");
  await page.getByRole("alert").filter({ hasText: sentence }).nth(1).waitFor();
  await until(
    "both runs are over",
    async () => (await runs(agentId)).filter((run) => run.status === "failed").length === 2,
  );
  await page.getByRole("log").locator("div:has(> [role=alert]) > div button").nth(1).waitFor();
  expect(await page.getByRole("alert").filter({ hasText: sentence }).count()).toBe(2);
  await world.modelWill({ pieces: ["I am back."] });
  await say(page, "And now?");
  await answer(page, "I am back.").waitFor();

  expect(await page.getByRole("alert").filter({ hasText: sentence }).count()).toBe(2);
  await until("the answer is below the failures", async () => {
    const above = await page.getByRole("alert").filter({ hasText: sentence }).last().boundingBox();
    const below = await answer(page, "I am back.").boundingBox(); // none while the whole answer replaces its parts
    return above !== null && below !== null && above.y < below.y;
  });
  await page.getByRole("log").locator("div:has(> [role=alert]) > div button").first().click();
  await page.getByText("organisation 7 does not know this key").first().waitFor();
  await page
    .getByRole("link", { name: word("chat.openRun") })
    .first()
    .waitFor();
});

it("offers suggested replies as buttons until something else is said", async () => {
  const agentId = await visitor(world, "Suggesting");
  const { page } = await visit(`/chat/${agentId}`);
  const suggested = page.getByRole("group", { name: word("chat.suggestions") }).getByRole("button");

  await say(page, "suggest suggest <b>me</b>");
  await answer(page, "How shall it go on?").waitFor();
  await suggested.nth(1).waitFor();
  expect(await suggested.allTextContents()).toEqual(["suggest <b>me</b>", "file"]);

  await suggested.first().press("Enter");
  await own(page, "suggest <b>me</b>").nth(1).waitFor();
  await page.getByText("How shall it go on?").nth(1).waitFor();
  await expect.poll(() => suggested.allTextContents(), { timeout: 30_000 }).toEqual(["<b>me</b>", "file"]);

  await say(page, "file");
  await answer(page, "0 file in capitals.").waitFor();
  await expect.poll(() => suggested.count(), { timeout: 30_000 }).toBe(0);
  await expect
    .poll(async () => (await runs(agentId)).map((run) => run.status), { timeout: 30_000 })
    .toEqual(["completed", "completed", "completed"]);
});
