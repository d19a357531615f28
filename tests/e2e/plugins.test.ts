// A plugin's life, by hand: installed with what it was granted, upgraded, in trouble, removed with what it kept.
import { expect, it } from "vitest";
import type { Locator, Page } from "playwright-core";

import { visit, world } from "./support/visit";
import { word } from "./support/words";

const ASKS =
  'permissions={"storage": ["plugin", "workspace"], "platform_api": ["message.send", "member.moderate", "requests.answer", "media"], "network": ["example.org"]}';
const TOOL = `
@tool()
async def lend(title: str):
    """Lends a book.

    title: which one
    """
    return title
`;

const library = (version: string, more = "", name = "library") =>
  `from parlour_sdk import plugin, tool\n\nplugin("page/${name}", version="${version}"${more && `, ${more}`})\n${TOOL}`;

const card = (page: Page, plugin: string): Locator =>
  page.locator("section").filter({ has: page.getByText(`${plugin} ·`) });
const state = (page: Page, plugin: string, name: string) =>
  card(page, plugin).getByText(word(`state.${name}`), { exact: true });
const button = (inside: Locator, key: string) => inside.getByRole("button", { name: word(key), exact: true });

/** Opens the plugins' page and what installs one; a zip of one's own is given, or a place on the Host's machine. */
async function opened(page: Page, plugin?: string): Promise<Locator> {
  await (
    plugin
      ? button(card(page, plugin), "plugins.upgrade")
      : page.getByRole("button", { name: word("plugins.install") }).first()
  ).click();
  return page.getByRole("dialog");
}

it("installs with granted permissions, upgrades only the same plugin, and removes its data on request", async () => {
  const { page } = await visit("/plugins");
  const installing = await opened(page);
  await installing
    .getByLabel(word("plugins.zip"))
    .setInputFiles(await world.writePlugin("library", library("1.0.0", ASKS), true));
  await button(installing, "plugins.install").click();
  await installing.getByRole("checkbox", { name: /message\.send/ }).uncheck();
  const asked = installing.getByRole("group");
  expect(await asked.getByRole("checkbox").count()).toBe(7);
  expect(await asked.evaluate((list) => list.scrollHeight - list.clientHeight)).toBe(0);
  await button(installing, "plugins.grant").click();
  await state(page, "page/library", "ready").waitFor();
  await card(page, "page/library")
    .getByText(word("plugins.permissionsSome_one", { count: 1 }))
    .waitFor();

  const upgrading = await opened(page, "page/library");
  await upgrading
    .getByLabel(word("plugins.zip"))
    .setInputFiles(await world.writePlugin("other", library("2.0.0", "", "other"), true));
  await button(upgrading, "plugins.upgrade").click();
  await upgrading.getByText(/this is page\/other and can't replace page\/library/i).waitFor();
  await upgrading
    .getByLabel(word("plugins.zip"))
    .setInputFiles(await world.writePlugin("again", `${library("1.0.0", ASKS)}\n# revised\n`, true));
  await button(upgrading, "plugins.upgrade").click();
  await card(page, "page/library").getByText("again.zip").waitFor();
  await state(page, "page/library", "ready").waitFor();

  await button(card(page, "page/library"), "common.remove").click();
  await page.getByRole("checkbox", { name: word("plugins.removeData") }).check();
  const removed = page.waitForRequest((request) => request.method() === "DELETE");
  await button(page.getByRole("dialog"), "common.remove").click();
  expect((await removed).url()).toContain("/plugins/page/library?data=delete");
  await card(page, "page/library").waitFor({ state: "detached" });
});

it("installs a bundled agent from the catalogue, asks for its settings and tests its connection", async () => {
  const { page } = await visit("/plugins");
  await page.getByRole("button", { name: word("plugins.installName", { name: "Dify" }), exact: true }).click();
  const installing = page.getByRole("dialog");
  await button(installing, "plugins.install").click();
  await installing.getByRole("checkbox", { name: /any host/i }).waitFor();
  await button(installing, "plugins.grant").click();
  await state(page, "parlour/dify-agent", "ready").waitFor();

  await page.goto("/agents/new");
  await page.getByRole("radio", { name: /Dify/ }).check({ force: true });
  await page.getByLabel("API address").fill("http://127.0.0.1:9/v1");
  await page.getByLabel("API key").fill("app-key");
  await button(page.locator("form"), "agents.testConnection").click();
  await page.getByText(/Dify can't be reached.*127\.0\.0\.1:9/).waitFor();
  await page.getByLabel(word("common.name")).fill("Remote");
  await button(page.locator("form"), "common.create").click();
  await page.getByRole("heading", { name: "Remote" }).waitFor();
  expect(await page.getByText(word("agents.usageUnknown")).count()).toBe(0);
});

it("says that budgets do not count a service that reports no usage", async () => {
  await world.api("POST", "/plugins/install", { source: "bundled:n8n-agent", granted: ["network"] });
  const { page } = await visit("/agents/new");
  await page.getByRole("radio", { name: /n8n/ }).check({ force: true });
  await page.getByText(word("agents.usageUnknown")).waitFor();
});

it("shows why a plugin does not run, and keeps the previous version if a new one fails to start", async () => {
  const { page } = await visit("/plugins");
  const installing = await opened(page);
  await installing
    .getByLabel(word("plugins.source"))
    .fill(await world.writePlugin("shelf", `${library("1.0.0", "", "shelf")}\nraise OSError("no shelf is free")\n`));
  await button(installing, "plugins.install").click();
  await state(page, "page/shelf", "waiting").waitFor();
  await card(page, "page/shelf")
    .getByText(/no shelf is free/)
    .waitFor();

  const mending = await opened(page, "page/shelf");
  await mending
    .getByLabel(word("plugins.source"))
    .fill(await world.writePlugin("mended", library("1.1.0", "", "shelf")));
  await button(mending, "plugins.upgrade").click();
  await state(page, "page/shelf", "ready").waitFor();

  const breaking = await opened(page, "page/shelf");
  await breaking
    .getByLabel(word("plugins.source"))
    .fill(await world.writePlugin("worse", `${library("1.2.0", "", "shelf")}\nraise OSError("the shelf fell")\n`));
  await button(breaking, "plugins.upgrade").click();
  await breaking.getByText(/1\.2\.0 could not be started, and 1\.1\.0 goes on: .*the shelf fell/).waitFor();
  await button(breaking, "common.cancel").click();
  await card(page, "page/shelf")
    .getByRole("status")
    .getByText(/version 1\.2\.0 could not be started/i)
    .waitFor();
  await state(page, "page/shelf", "ready").waitFor();
});

it("shows a plugin with unavailable requirements as failed, with the remedy", async () => {
  const { page } = await visit("/plugins");
  const installing = await opened(page);
  const needy = library("1.0.0", 'requirements=["no-package-of-this-name-anywhere==1.0"]', "needy");
  await installing.getByLabel(word("plugins.source")).fill(await world.writePlugin("needy", needy));
  await button(installing, "plugins.install").click();
  await installing
    .getByRole("alert")
    .getByText(/can't be installed/)
    .waitFor();
  await button(installing, "common.cancel").click();

  await state(page, "page/needy", "failed").waitFor();
  await card(page, "page/needy")
    .getByRole("alert")
    .getByText(/can't be installed/)
    .waitFor();
});
