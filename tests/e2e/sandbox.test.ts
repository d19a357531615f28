// A Host whose plugins have no sandbox: the page says so where its owner looks, with the command that installs it.
import { expect, it } from "vitest";

import { OWNER } from "./support/people";
import { go, visit } from "./support/visit";
import { word } from "./support/words";
import { OwnWorld } from "./support/world";

const COMMAND = /(install|add|-S) bubblewrap/;

it("warns on the first pages and the plugins page when no sandbox is available", async () => {
  const fresh = await OwnWorld.begin({ plugins: false, old_bubblewrap: true });
  const { page } = await visit("/", { as: null, address: fresh.place.address });
  await page.getByLabel(word("setup.name")).fill(OWNER.name);
  await page.getByLabel(word("login.email")).fill(OWNER.email);
  await page.getByLabel(word("login.password")).fill(OWNER.password);
  await page.getByRole("button", { name: word("setup.create") }).click();
  await page.getByRole("link", { name: word("welcome.chatAction") }).waitFor();

  const note = page.getByRole("region", { name: word("plugins.noSandbox") });
  await note.getByText("Unknown option --disable-userns").waitFor();

  await go(page, "/");
  const attention = page.getByRole("region", { name: word("home.attention") });
  await attention.getByRole("link", { name: COMMAND }).click();
  await note.getByText("Unknown option --disable-userns").waitFor();
  expect(await note.locator("pre").innerText()).toMatch(COMMAND);
  await page.getByText(word("plugins.withoutSandbox"), { exact: true }).first().waitFor();
  await page.context().close();
  await fresh.end();
});
