// Files dropped onto a base, taken up before the user's eyes, and answers that name and open their sources.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";

import { bot, localAgent } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const LEAVE = "# Handbook\n\n## Leave\n\nDeck crew receive twenty-six days of annual leave.\n";
const FARES = "name,fare\nSingle ticket,four euros\nDay ticket,nine euros\n";
const LONG = Array.from({ length: 3000 }, (_, n) => `Paragraph ${n} about the tide at pier ${n}. `.repeat(20)).join(
  "\n\n",
);
const QUESTION = "How many days of annual leave does the deck crew receive?";

type Files = { items: { name: string; status: string; file_id: string }[] };
type Base = { kb_id: string };

/** Drops files as a user does: from outside the browser, onto the zone. */
async function drop(page: Page, files: { name: string; content: string }[]): Promise<void> {
  const dropped = await page.evaluateHandle((given) => {
    const data = new DataTransfer();
    for (const { name, content } of given) data.items.add(new File([content], name));
    return data;
  }, files);
  await page.getByText(word("knowledge.drop")).dispatchEvent("drop", { dataTransfer: dropped });
}

const row = (page: Page, name: string) => page.getByRole("listitem").filter({ hasText: name });

it("takes up dropped files, shows their progress, and an answer opens its source", async () => {
  const { page } = await visit("/knowledge");
  await page.getByRole("button", { name: word("knowledge.add") }).click();
  await page.getByLabel(word("common.name")).fill("Ferry handbook");
  await page.getByRole("button", { name: word("common.create") }).click();
  await page.getByRole("heading", { name: "Ferry handbook" }).waitFor();

  await drop(page, [
    { name: "handbook.md", content: LEAVE },
    { name: "fares.csv", content: FARES },
    { name: "piers.txt", content: LONG },
  ]);
  await page.getByRole("progressbar", { name: word("knowledge.progress", { name: "piers.txt" }) }).waitFor();
  for (const name of ["handbook.md", "fares.csv", "piers.txt"])
    await row(page, name).getByText(word("state.completed"), { exact: true }).waitFor({ timeout: 120_000 });
  expect(await page.getByRole("progressbar").count()).toBe(0);

  const [base] = (await world.api<{ items: Base[] }>("GET", "/knowledge-bases")).items;
  const agentId = await localAgent(world, "Purser", { knowledge_bases: [base!.kb_id] });
  await world.modelWill({ pieces: ["Twenty-six days [1]."] });
  await page.goto(`/chat/${agentId}`);
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill(QUESTION);
  await page.getByRole("button", { name: word("chat.send") }).click();
  const sources = page.getByRole("region", { name: word("chat.sources") });
  await sources.getByRole("link", { name: "handbook.md" }).click();

  await page.getByRole("heading", { name: "handbook.md" }).waitFor();
  await page.getByText("Deck crew receive twenty-six days of annual leave.").waitFor();
  expect(new URL(page.url()).searchParams.get("chunk")).toBeTruthy();

  const { account } = await bot(world, "Ferry desk", agentId);
  await world.modelWill({ pieces: ["Twenty-six days [1]."] });
  await world.say(account, QUESTION, 31);
  const [said] = await world.answered(account, 1);
  expect(said).toContain("Twenty-six days [1].");
  expect(said).toContain("handbook.md");
});

it("says why a file was not taken up, and takes the next one", async () => {
  const base = await world.api<Base>("POST", "/knowledge-bases", { name: "Broken" });
  const { page } = await visit(`/knowledge/${base.kb_id}`);
  await drop(page, [
    { name: "broken.pdf", content: "%PDF-1.7 this is no document" },
    { name: "note.txt", content: "High tide is at noon." },
  ]);
  await row(page, "broken.pdf").getByText("parse.failed").waitFor();
  await row(page, "note.txt").getByText(word("state.completed"), { exact: true }).waitFor();
  const { items } = await world.api<Files>("GET", `/knowledge-bases/${base.kb_id}/files`);
  expect(items.map(({ name, status }) => [name, status]).sort()).toEqual([
    ["broken.pdf", "failed"],
    ["note.txt", "completed"],
  ]);
});

it("shows what another store or engine needs", async () => {
  const base = await world.api<Base>("POST", "/knowledge-bases", { name: "Stored" });
  const { page } = await visit(`/knowledge/${base.kb_id}`);
  await page.getByRole("tab", { name: word("nav.settings") }).click();
  await page.getByText(word("knowledge.otherStores")).click();
  await page.getByText("parlour[qdrant]").waitFor();
  expect(await page.getByRole("combobox", { name: word("knowledge.store") }).inputValue()).toBe("builtin");
});
