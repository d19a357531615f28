// The page behind a real proxy: with TLS, under another name, below a path prefix.
import { expect, it } from "vitest";

import { OWNER } from "./support/people";
import { settled, visit } from "./support/visit";
import { word } from "./support/words";
import { OwnWorld } from "./support/world";

it("works below a prefix: set-up, chat, files, runs, links and logging in", async () => {
  const world = await OwnWorld.begin({ plugins: false, proxied: true });
  const { public: base, printed } = world.place;
  const token = printed
    .find((line) => line.startsWith("set-up token"))!
    .split(" ")
    .at(-1)!;
  const made = await visit(`${base}/`, { as: null, address: base, ignoreHTTPSErrors: true });
  const { page, asked } = made;

  await page.getByLabel(word("setup.name")).fill(OWNER.name);
  await page.getByLabel(word("login.email")).fill(OWNER.email);
  await page.getByLabel(word("login.password")).fill(OWNER.password);
  await page.getByLabel(word("setup.token")).fill(token);
  await page.getByRole("button", { name: word("setup.create") }).click();
  await page.getByRole("link", { name: word("welcome.chatAction") }).click();
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill("Hello!");
  await page.getByRole("button", { name: word("chat.send") }).click();
  await page
    .getByRole("article", { name: word("chat.agent") })
    .filter({ hasText: "Hello!" })
    .waitFor();
  const cookies = await page.context().cookies(base);
  expect(cookies.map(({ path, secure, httpOnly }) => ({ path, secure, httpOnly }))).toEqual([
    { path: "/chat", secure: true, httpOnly: true },
  ]);

  // a file goes up, and its link leads to it
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a note") });
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill("Read this");
  await page.getByRole("button", { name: word("chat.send") }).click();
  const file = page.getByRole("link", { name: "note.txt" }).first();
  expect(await file.evaluate(async (link) => (await fetch((link as HTMLAnchorElement).href)).text())).toBe("a note");

  // a page that is opened by its address, and a link within it
  await page.goto(`${base}/runs`);
  await settled(page);
  await page.locator("main li a").first().click();
  await page.waitForURL(`${base}/runs/*`);
  await page.reload();
  await settled(page);
  const run = page.url();

  // a user who is not logged in is sent to the login page, and from there to the requested page
  await page.context().clearCookies();
  await page.goto(run);
  await page.waitForURL(`${base}/login?*`);
  await page.getByLabel(word("login.email")).fill(OWNER.email);
  await page.getByLabel(word("login.password")).fill(OWNER.password);
  await page.getByRole("button", { name: word("login.enter") }).click();
  await page.waitForURL(run);
  await settled(page);

  const outside = asked.filter((address) => !address.startsWith("data:") && !address.startsWith(`${base}/`));
  expect(outside).toEqual([]);
  await page.context().close();
  await world.end();
});
