// The page fits its user: role, language and device.
import { beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { agent, ECHO, person, somethingEverywhere } from "./support/furnish";
import { PAGES } from "./support/pages";
import { VIEWER } from "./support/people";
import { go, settled, visit, world } from "./support/visit";
import { word } from "./support/words";

const PHONE = { viewport: { width: 375, height: 720 }, isMobile: true, hasTouch: true };

let agentId: string;
beforeAll(async () => {
  agentId = await agent(world, "Everybody's", ECHO);
  await person(world, VIEWER, "viewer");
});

it("changes the language at once and remembers it", async () => {
  const { page } = await visit("/agents");
  await page.getByRole("heading", { level: 1, name: word("nav.agents") }).waitFor();

  await page.getByRole("combobox", { name: word("settings.language") }).selectOption("zh-Hans");
  await page.getByRole("heading", { level: 1, name: word("nav.agents", {}, "zh-Hans") }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: word("nav.agents", {}, "zh-Hans") }).waitFor();

  expect(await page.getAttribute("html", "lang")).toBe("zh-Hans");
});

it("uses Chinese for a Chinese browser", async () => {
  const { page } = await visit("/agents", { locale: "zh-CN" });

  await page.getByRole("heading", { level: 1, name: word("nav.agents", {}, "zh-Hans") }).waitFor();
});

it("lets a viewer read but change nothing", async () => {
  const { page } = await visit(`/agents/${agentId}`, { as: VIEWER });
  await page.getByRole("heading", { name: "Everybody's" }).waitFor();
  expect(await page.getByRole("button", { name: word("common.save"), exact: true }).count()).toBe(0);
  expect(await page.getByRole("button", { name: word("common.delete"), exact: true }).count()).toBe(0);

  for (const [path, name, button] of [
    ["/agents", "nav.agents", "agents.create"],
    ["/bots", "nav.bots", "bots.create"],
    ["/models", "nav.models", "models.addProvider"],
    ["/plugins", "nav.plugins", "plugins.install"],
  ] as const) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1, name: word(name) }).waitFor();
    await settled(page);
    expect(
      await page
        .getByRole("main")
        .getByRole("button", { name: word(button) })
        .count(),
      path,
    ).toBe(0);
    expect(
      await page
        .getByRole("main")
        .getByRole("link", { name: word(button) })
        .count(),
      path,
    ).toBe(0);
  }
  await page.goto("/chat");
  await page.getByText(word("chat.viewer")).waitFor();
});

it("hides the menu behind a button on a phone", async () => {
  const { page } = await visit("/", PHONE);
  const menu = page.getByRole("navigation", { name: word("nav.label") });
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await menu.isVisible()).toBe(false);

  await page.getByRole("button", { name: word("nav.open") }).tap();
  await menu.getByRole("link", { name: word("nav.agents") }).tap();
  await page.getByRole("heading", { level: 1, name: word("nav.agents") }).waitFor();
  expect(await menu.isVisible()).toBe(false);

  await page.goto(`/chat/${agentId}`);
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill("From the bus");
  await page.getByRole("button", { name: word("chat.send") }).tap();
  await page
    .getByRole("article", { name: word("chat.agent") })
    .filter({ hasText: "From the bus" })
    .waitFor();
});

/** Returns the texts of elements beyond the right edge of the page. */
const stickingOut = (page: Page) =>
  page.evaluate((width) => {
    const main = document.querySelector("main")!;
    if (Math.max(document.body.scrollWidth, main.scrollWidth) <= width) return [];
    const wide = [...main.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > width + 1);
    return wide
      .map(
        (each) =>
          `<${each.tagName.toLowerCase()} class="${each.getAttribute("class")}"> ${each.textContent?.slice(0, 60)}`,
      )
      .slice(-5);
  }, PHONE.viewport.width);

it("has no horizontal overflow on a phone with long names", async () => {
  const name = `A_name_without_a_single_space_${"_and_on_".repeat(12)}`;
  const ids = await somethingEverywhere(world, name);
  const { page } = await visit("/", PHONE);
  const found: Record<string, string[]> = {};
  for (const [name, path] of PAGES) {
    await go(page, path(ids));
    found[name] = await stickingOut(page);
  }

  expect(found).toEqual(Object.fromEntries(PAGES.map(([name]) => [name, []])));
});
