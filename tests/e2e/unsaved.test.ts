// Input is not lost by a link or by Escape: the forms of settings, tools and models ask first.
import { expect, it } from "vitest";
import type { Locator, Page } from "playwright-core";

import { writtenModel } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const question = (page: Page) => page.getByRole("dialog", { name: word("unsaved.title") });

/** Leaves by a link, stays, finds what was typed, and leaves after all. */
async function asksBeforeLeaving(page: Page, field: Locator, typed: string): Promise<void> {
  await field.fill(typed);
  await page.getByRole("link", { name: word("nav.home") }).click();
  await question(page)
    .getByRole("button", { name: word("unsaved.stay") })
    .click();
  await question(page).waitFor({ state: "hidden" });
  expect(await field.inputValue()).toBe(typed);
  await page.getByRole("link", { name: word("nav.home") }).click();
  await question(page)
    .getByRole("button", { name: word("unsaved.leave") })
    .click();
  await page.getByRole("heading", { name: word("nav.home"), level: 1 }).waitFor();
}

it("warns before an unsaved user or key is left", async () => {
  const { page } = await visit("/settings?tab=people");
  await asksBeforeLeaving(page, page.getByLabel(word("login.email")), "ida@example.org");
  await page.goto("/settings?tab=keys");
  await asksBeforeLeaving(page, page.getByLabel(word("common.name")), "Importer");
});

it("warns before an unsaved MCP server is left, by form or pasted", async () => {
  const { page } = await visit("/tools");
  await page.getByRole("button", { name: word("tools.addServer") }).click();
  await asksBeforeLeaving(page, page.getByLabel(word("tools.url")), "https://example.org/mcp");
  await page.goto("/tools?tab=paste");
  await page.getByRole("button", { name: word("tools.addServer") }).click();
  await asksBeforeLeaving(page, page.getByLabel(word("tools.pasteLabel")), '{"mcpServers": {}}');
});

it("keeps the input of a dialog when Escape is pressed repeatedly", async () => {
  await writtenModel(world);
  const { page } = await visit("/models");
  await page.getByRole("button", { name: word("models.edit", { name: "house-large" }) }).click();
  const dialog = page.getByRole("dialog", { name: word("models.edit", { name: "house-large" }) });
  const name = dialog.getByLabel(word("common.name"));
  await name.fill("house-small");

  for (let time = 0; time < 3; time++) {
    await page.keyboard.press("Escape");
    await question(page).waitFor();
    await page.keyboard.press("Escape");
    await question(page).waitFor({ state: "detached" });
    expect(await name.inputValue()).toBe("house-small");
  }

  await page.keyboard.press("Escape");
  await question(page)
    .getByRole("button", { name: word("unsaved.leave") })
    .click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText("house-large").first().waitFor();
});

it("closes an unchanged dialog at the first Escape", async () => {
  await writtenModel(world);
  const { page } = await visit("/models");
  await page.getByRole("button", { name: word("models.edit", { name: "house-large" }) }).click();
  const dialog = page.getByRole("dialog", { name: word("models.edit", { name: "house-large" }) });
  await dialog.getByLabel(word("common.name")).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  expect(await question(page).count()).toBe(0);
});
