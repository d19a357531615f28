// From a fresh directory to the first answer, as a new operator does it.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";

import { bot } from "./support/furnish";
import { OWNER } from "./support/people";
import { visit } from "./support/visit";
import { word } from "./support/words";
import { OwnWorld, World } from "./support/world";

const SECONDS = 60;

it("gets a first answer from a fresh Host in under a minute", async () => {
  const fresh = await OwnWorld.begin({ plugins: false });
  const began = Date.now();
  const { page } = await visit("/", { as: null, address: fresh.place.address });

  await page.getByLabel(word("setup.name")).fill(OWNER.name);
  await page.getByLabel(word("login.email")).fill(OWNER.email);
  await page.getByLabel(word("login.password")).fill(OWNER.password);
  await page.getByRole("button", { name: word("setup.create") }).click();
  await page.getByRole("link", { name: word("welcome.chatAction") }).click();
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill("Hello!");
  await page.getByRole("button", { name: word("chat.send") }).click();
  await page
    .getByRole("article", { name: word("chat.agent") })
    .filter({ hasText: "Hello!" })
    .waitFor();

  expect(Date.now() - began).toBeLessThan(SECONDS * 1000);
  await followsTheBotThatWorks(page, new World(fresh.place));
  await page.context().close();
  await fresh.end();
});

/** The first bot never gets a connection; the steps are about the second, and its message ends them. */
async function followsTheBotThatWorks(page: Page, world: World): Promise<void> {
  const [agent] = (await world.api<{ items: { agent_id: string }[] }>("GET", "/agents")).items;
  await world.api("POST", "/bots", {
    name: "Broken",
    adapter: "onebot11",
    adapter_config: { mode: "forward", url: "ws://127.0.0.1:1" },
  });
  await page.goto("/welcome");
  await page.getByRole("link", { name: word("welcome.messageAction", { name: "Broken" }) }).waitFor();

  const { account } = await bot(world, "Working", agent!.agent_id);
  const link = page.getByRole("link", { name: word("welcome.messageAction", { name: "Working" }) });
  await link.waitFor();
  await world.say(account, "Hello", 1);
  await page.getByRole("listitem").filter({ has: link }).getByLabel(word("welcome.done")).waitFor();
}
