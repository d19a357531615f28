// axe looks at every page, light and dark, with something on it, and finds nothing serious.
import { readFileSync } from "node:fs";

import { beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { somethingEverywhere } from "./support/furnish";
import { type Ids, PAGES } from "./support/pages";
import { go, settled, visit, world } from "./support/visit";

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const SERIOUS = ["serious", "critical"];

type Finding = { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] };
type Axe = { axe: { run: (options: object) => Promise<{ violations: Finding[] }> } };

let ids: Ids;
beforeAll(async () => {
  ids = await somethingEverywhere(world);
});

/** Colours are all that differs between light and dark. */
async function findings(page: Page, rules?: string[]): Promise<string[]> {
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate((options) => (globalThis as unknown as Axe).axe.run(options), options);
  return violations
    .filter(({ impact }) => SERIOUS.includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}

/** Colours change gently: they are looked at when they have. */
async function light(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.waitForFunction(() => !document.getAnimations().some((each) => each instanceof CSSTransition));
}

async function inBothLights(page: Page): Promise<string[]> {
  await light(page, "light");
  const found = await findings(page);
  await light(page, "dark");
  return [...found, ...(await findings(page, ["color-contrast"]))];
}

it("finds nothing serious on any page, with something on it", async () => {
  const { page } = await visit("/");
  await page.evaluate(AXE);
  const found: Record<string, string[]> = {};
  for (const [name, path] of PAGES) {
    await go(page, path(ids));
    found[name] = await inBothLights(page);
  }

  expect(found).toEqual(Object.fromEntries(PAGES.map(([name]) => [name, []])));
});

it("finds nothing serious at the door", async () => {
  const { page } = await visit("/login", { as: null });
  await settled(page);
  await page.evaluate(AXE);

  expect(await inBothLights(page)).toEqual([]);
});
