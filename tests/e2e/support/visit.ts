// A person's visit: a browser of their own, watched for anything that it asks of others or complains about.
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, expect, inject } from "vitest";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

import { OWNER, type Person } from "./people";
import { word } from "./words";
import { World } from "./world";

export const world = new World(inject("place"));
const sessions = new Map<string, Awaited<ReturnType<BrowserContext["storageState"]>>>();
let browser: Browser | undefined;
let visits: Visit[] = [];

export type Visit = { page: Page; context: BrowserContext; asked: string[]; complaints: string[] };
type Options = BrowserContextOptions & { as?: Person | null; address?: string };

/** Opens a page. `as: null` visits without an account; otherwise the user is logged in already. */
export async function visit(
  path: string,
  { as = OWNER, address = world.place.address, ...options }: Options = {},
): Promise<Visit> {
  browser ??= await chromium.connect(inject("browser"));
  const storageState = as ? await session(as, address) : undefined;
  const context = await browser.newContext({
    baseURL: address,
    locale: "en-US",
    reducedMotion: "reduce",
    storageState,
    ...options,
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const made: Visit = { page, context, asked: [], complaints: [] };
  watch(context, made);
  visits.push(made);
  await page.goto(path);
  return made;
}

/** Resolves when the page has shown its content. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  const loading = (["en", "zh-Hans"] as const).map(
    (language) => `[aria-label="${word("common.loading", {}, language)}"]`,
  );
  await page.waitForFunction((loading) => !document.querySelector(loading), loading.join());
}

/** Navigates as a link does, without loading the page again. The former page is shown until the next one is ready. */
export async function go(page: Page, path: string): Promise<void> {
  if (new URL(page.url()).pathname === path) return settled(page);
  await page.evaluate((path) => {
    document.querySelector("h1")?.setAttribute("data-before", "");
    history.pushState({}, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector("h1[data-before]"));
  await settled(page);
}

async function session(person: Person, address: string) {
  const known = `${address} ${person.email}`;
  if (!sessions.has(known)) {
    const context = await browser!.newContext({ baseURL: address });
    const { email, password } = person;
    const answer = await context.request.post("/api/v1/auth/login", {
      data: { email, password },
      headers: { Origin: address },
    });
    expect(answer.status()).toBe(200);
    sessions.set(known, await context.storageState());
    await context.close();
  }
  return sessions.get(known);
}

/** A cut or refused request is no complaint: tests cut and refuse on purpose. */
function watch(context: BrowserContext, made: Visit): void {
  context.on("request", (request) => made.asked.push(request.url()));
  context.on("weberror", (error) => made.complaints.push(String(error.error())));
  context.on("console", (message) => {
    if (
      message.type() === "error" &&
      !message.text().startsWith("Failed to load resource") &&
      !message.text().includes("WebSocket connection")
    ) {
      made.complaints.push(message.text());
    }
  });
}

/** Forgets a session that a test has ended. */
export const forgetSession = (person: Person, address = world.place.address) =>
  sessions.delete(`${address} ${person.email}`);

export const foreign = (made: Visit) =>
  made.asked.filter(
    (address) => /^(http|ws)/.test(address) && !/^(http|ws)s?:\/\/(127\.0\.0\.1|chat\.localhost):/.test(address),
  );

/** Saves a screenshot of a failed test. */
const photograph = (page: Page, name: string) =>
  page.screenshot({
    path: fileURLToPath(new URL(`../../../.tools/e2e-failures/${name.replaceAll(/\W+/g, "-")}.png`, import.meta.url)),
  });

afterEach(async ({ task }) => {
  const past = visits;
  visits = [];
  if (task.result?.state === "fail")
    await Promise.all(past.map((made, at) => photograph(made.page, `${task.name} ${at}`)));
  await Promise.all(past.map(({ context }) => context.close()));
  expect(past.flatMap(foreign)).toEqual([]);
  expect(past.flatMap(({ complaints }) => complaints)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  browser = undefined;
});
