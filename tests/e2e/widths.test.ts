// Every page fits a phone, a tablet and a desk, also with names that have no space to break at.
import { beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { bot, localAgent, pipeline } from "./support/furnish";
import { type Ids, PAGES } from "./support/pages";
import { go, settled, visit, world } from "./support/visit";

const LONG = "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle".repeat(2);
const TABLET = { width: 820, height: 1100 };
let ids: Ids;

beforeAll(async () => {
  const agentId = await localAgent(world, LONG);
  const { botId, account } = await bot(world, LONG, agentId);
  await world.modelWill({ pieces: [LONG] });
  await world.say(account, LONG, 99, { name: LONG });
  await world.answered(account, 1);
  const [run] = (await world.api<{ items: { run_id: string }[] }>("GET", `/runs?agent_id=${agentId}`)).items;
  ids = { agentId, botId, runId: run!.run_id, pipelineId: await pipeline(world, `${LONG} desk`, agentId) };
});

/** Returns elements that overflow the page or a parent that does not scroll, and tab bars that scroll vertically. */
function wrong(): string[] {
  const BLEED = 10; // rows that are marked under the pointer reach a little beyond their text
  const main = document.querySelector<HTMLElement>("#main")!;
  const name = (element: Element) => `${element.tagName.toLowerCase()}: ${(element.textContent ?? "").slice(0, 40)}`;
  const scrolls = (element: Element): boolean =>
    element !== main &&
    (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(element).overflowX) ||
      (element.parentElement !== null && scrolls(element.parentElement)));
  const wide = [...main.querySelectorAll("*")].filter((element) => {
    const { right, width } = element.getBoundingClientRect();
    return width > 1 && right > main.getBoundingClientRect().right + 1 && !scrolls(element.parentElement!);
  });
  const cut = [...main.querySelectorAll<HTMLElement>("li, section, form, fieldset")].filter(
    (element) => element.scrollWidth > element.clientWidth + BLEED && element.clientWidth > 1,
  );
  const bars = [...main.querySelectorAll<HTMLElement>("[role=tablist]")].filter(
    (bar) => bar.scrollHeight > bar.clientHeight,
  );
  return [
    ...(main.scrollWidth > main.clientWidth ? [`the page is ${main.scrollWidth - main.clientWidth} px too wide`] : []),
    ...wide.map((element) => `sticks out: ${name(element)}`),
    ...cut.map((element) => `holds more than it shows: ${name(element)}`),
    ...bars.map((bar) => `scrolls downwards: ${name(bar)}`),
  ];
}

async function wrongOn(page: Page, path: string): Promise<string[]> {
  await go(page, path);
  const found = await page.evaluate(wrong);
  for (const tab of (await page.getByRole("tab").all()).slice(1)) {
    await tab.click();
    await settled(page);
    found.push(...(await page.evaluate(wrong)).map((each) => `${each} (another tab)`));
  }
  return found;
}

it.each([390, TABLET.width])("fits every page at a width of %i and has its name in the tab title", async (width) => {
  const { page } = await visit("/", { viewport: { width, height: 900 } });
  const found: Record<string, string[]> = {};
  const titles = new Set<string>();
  for (const [name, path] of PAGES) {
    found[name] = await wrongOn(page, path(ids));
    titles.add(await page.title());
  }

  expect([...titles].filter((title) => !/.+ · Parlour$/.test(title))).toEqual([]);
  expect(titles.size, "the agent and the bot have the same name, all others their own").toBe(PAGES.length - 1);
  expect(Object.entries(found).filter(([, problems]) => problems.length > 0)).toEqual([]);
});

it("shows the subject of each run on a tablet", async () => {
  const { page } = await visit("/runs", { viewport: TABLET });
  const message = page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: LONG.slice(0, 40) })
    .getByText(LONG)
    .first();

  expect((await message.boundingBox())!.width).toBeGreaterThan(200);
});

it("aligns the columns of runs with their headings", async () => {
  const { page } = await visit("/runs", { viewport: { width: 1280, height: 500 } });
  await page.getByRole("main").locator('a[href^="/runs/"]').first().waitFor();
  const edges = await page.evaluate(() => {
    const rows = document.querySelector("#main ul a[data-index]")!;
    const headings = rows.closest("[role=region]")!.previousElementSibling!;
    const of = (row: Element) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().right));
    return { headings: of(headings), cells: of(rows) };
  });

  expect(edges.cells).toHaveLength(7);
  expect(edges.cells).toEqual(edges.headings);
});
