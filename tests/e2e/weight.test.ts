// The files that a browser loads: few, only those it needs, and each only once.
import { beforeAll, expect, it } from "vitest";

import { visit, world } from "./support/visit";
import { word } from "./support/words";

const SHELL_BYTES = 200 * 1024;

/** The scripts that a first look at Home fetches, by name, with their bytes on the wire. */
let scripts: Map<string, number>;

beforeAll(async () => {
  const { page } = await visit("/");
  await page.getByRole("heading", { level: 1, name: word("nav.home") }).waitFor();
  await page.waitForLoadState("networkidle");
  scripts = new Map(
    await page.evaluate(() =>
      (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
        .filter(({ name }) => name.endsWith(".js"))
        .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize] as [string, number]),
    ),
  );
});

it("loads less than 200 kB of script for the shell and the first page", () => {
  const bytes = [...scripts.values()].reduce((sum, each) => sum + each, 0);

  expect(bytes).toBeGreaterThan(50 * 1024);
  expect(bytes).toBeLessThan(SHELL_BYTES);
});

it("loads the script of a page only when it is opened", () => {
  expect([...scripts.keys()].filter((name) => /ChatPage|BotPage|AgentPage|RunPage|Markdown/.test(name))).toEqual([]);
});

it("loads no script on a second visit, because it is cached", async () => {
  const { page } = await visit("/");
  await page.getByRole("heading", { level: 1, name: word("nav.home") }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: word("nav.home") }).waitFor();
  const fetched = await page.evaluate(() =>
    (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
      .filter(({ name, transferSize }) => name.includes("/assets/") && transferSize > 0)
      .map(({ name }) => name),
  );

  expect(fetched).toEqual([]);
});

it("has a content security policy without inline scripts and foreign sources", async () => {
  const policy =
    (await fetch(world.place.address, { headers: { accept: "text/html" } })).headers.get("content-security-policy") ??
    "";

  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|http|\*/);
});
