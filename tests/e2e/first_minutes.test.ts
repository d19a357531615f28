// From a fresh directory to the first answer, as somebody does it who has never seen the page.
import { expect, it } from "vitest";

import { OWNER } from "./support/people";
import { visit } from "./support/visit";
import { word } from "./support/words";
import { OwnWorld } from "./support/world";

const SECONDS = 60;

it("leads from a fresh Host to a first answer in under a minute", async () => {
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
  await page.getByRole("article", { name: word("chat.agent") }).filter({ hasText: "Hello!" }).waitFor();

  expect(Date.now() - began).toBeLessThan(SECONDS * 1000);
  await page.context().close();
  await fresh.end();
});
