// axe looks at every page, its tabs and its dialogs, light and dark, with something in them, and finds nothing serious.
import { readFileSync } from "node:fs";

import { beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { somethingEverywhere, writtenModel } from "./support/furnish";
import { type Ids, PAGES } from "./support/pages";
import { go, settled, visit, world } from "./support/visit";
import { word } from "./support/words";

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const SERIOUS = ["serious", "critical"];

type Finding = { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] };
type Axe = { axe: { run: (within: string, options: object) => Promise<{ violations: Finding[] }> } };

let ids: Ids;
beforeAll(async () => {
  ids = await somethingEverywhere(world);
  await writtenModel(world);
});

/** Colours are all that differs between light and dark. */
async function findings(page: Page, within: string, rules?: string[]): Promise<string[]> {
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate(
    ([within, options]) => (globalThis as unknown as Axe).axe.run(within, options),
    [within, options] as const,
  );
  return violations
    .filter(({ impact }) => SERIOUS.includes(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
    );
}

/** Colours change gently: they are looked at when they have. */
async function light(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.waitForFunction(() => !document.getAnimations().some((each) => each instanceof CSSTransition));
}

async function inBothLights(page: Page, within = "html"): Promise<string[]> {
  await light(page, "light");
  const found = await findings(page, within);
  await light(page, "dark");
  return [...found, ...(await findings(page, within, ["color-contrast"]))];
}

/** The other tabs of a page, by name. The first tab is open already. */
async function inOtherTabs(page: Page): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const tab of (await page.getByRole("tab").all()).slice(1)) {
    await tab.click();
    await settled(page);
    found[await tab.innerText()] = await inBothLights(page, "[role=tabpanel][data-state=active]");
  }
  return found;
}

/** The dialogs that a button opens. Confirmations before a deletion are all alike and left out. */
const DIALOGS: Record<string, string> = {
  agent: word("common.delete"),
  run: word("runs.rerun"),
  models: word("models.edit", { name: "house-large" }),
  plugins: word("plugins.install"),
};

async function inDialog(page: Page, button: string): Promise<Record<string, string[]>> {
  await page.getByRole("main").getByRole("button", { name: button, exact: true }).first().click();
  const dialog = page.locator("dialog[open]");
  await dialog.getByRole("button").first().waitFor();
  const found = await inBothLights(page, "dialog[open]");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  return { [button]: found };
}

it("has no serious accessibility violation on any page, tab or dialog with content", async () => {
  const { page } = await visit("/");
  await page.evaluate(AXE);
  const found: Record<string, string[]> = {};
  for (const [name, path] of PAGES) {
    await go(page, path(ids));
    found[name] = await inBothLights(page);
    const inFront = DIALOGS[name] ? await inDialog(page, DIALOGS[name]) : {};
    for (const [part, problems] of Object.entries({ ...inFront, ...(await inOtherTabs(page)) }))
      found[`${name}: ${part}`] = problems;
  }

  expect(Object.keys(found).length).toBeGreaterThan(PAGES.length + 15);
  expect(Object.entries(found).filter(([, problems]) => problems.length > 0)).toEqual([]);
});

it("has no serious accessibility violation on the login page", async () => {
  const { page } = await visit("/login", { as: null });
  await settled(page);
  await page.evaluate(AXE);

  expect(await inBothLights(page)).toEqual([]);
});
