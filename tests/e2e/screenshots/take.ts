// Takes a picture of every page, light and dark, in both languages, and of a few on a phone, into docs/images.
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { type Ids, PAGES } from "../support/pages";
import { settled, visit, world } from "../support/visit";
import { type Language, word } from "../support/words";
import { furnish, SAID, willAnswer } from "./scene";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDER = `${ROOT}docs/images`;
const DESK = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 };
const PHONE = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const ON_A_PHONE = ["home", "chat", "runs", "bot"];
const LANGUAGES = [
  ["en", "en-US"],
  ["zh-Hans", "zh-CN"],
] as const;

let ids: Ids;
let bytes = 0;

beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  ids = await furnish(world);
  await sayInChat();
});

async function sayInChat(): Promise<void> {
  await willAnswer(world);
  const { page, context } = await visit(`/chat/${ids.agentId}`);
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill(SAID);
  await page.getByRole("button", { name: word("chat.send") }).click();
  await page
    .getByRole("article", { name: word("chat.agent") })
    .filter({ hasText: "third shelf" })
    .waitFor();
  await context.close();
}

/** Steps on a page before its screenshot is taken. */
const BEFORE: Record<string, (page: Page, language: Language) => Promise<void>> = {
  chat: (page) => page.getByText("third shelf").first().waitFor(),
  bot: async (page, language) => {
    await page.getByLabel(word("dryRun.text", {}, language), { exact: true }).fill("Where is my book?");
    await page.getByRole("button", { name: word("dryRun.try", {}, language) }).click();
    await page
      .getByText(word("handler.agent", {}, language))
      .last()
      .waitFor();
  },
  plugins: (page) => page.evaluate(hide, ROOT),
};

/** Hides the path of this clone. */
function hide(root: string): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.nodeValue = texts.currentNode.nodeValue!.replaceAll(root, "/srv/parlour/");
}

async function open(page: Page, [name, path]: (typeof PAGES)[number], language: Language): Promise<void> {
  await page.goto(path(ids));
  await settled(page);
  await BEFORE[name]?.(page, language);
  await page.waitForLoadState("networkidle");
}

async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  const picture = Buffer.from(data, "base64");
  bytes += picture.length;
  await writeFile(`${FOLDER}/${name}.webp`, picture);
  await session.detach();
}

for (const colorScheme of ["light", "dark"] as const) {
  it.each(LANGUAGES)(`takes every page in ${colorScheme}, %s`, async (language, locale) => {
    const { page } = await visit("/", { ...DESK, colorScheme, locale });
    for (const each of PAGES) {
      await open(page, each, language);
      await take(page, `${each[0]}-${colorScheme}-${language}`);
    }
  });
}

it("takes a few on a phone, and the door", async () => {
  const { page } = await visit("/", { ...PHONE, colorScheme: "light" });
  for (const each of PAGES.filter(([name]) => ON_A_PHONE.includes(name))) {
    await open(page, each, "en");
    await take(page, `${each[0]}-phone`);
  }
  const stranger = await visit("/login", { ...DESK, as: null, colorScheme: "light" });
  await settled(stranger.page);
  await take(stranger.page, "login-light-en");
  expect(bytes).toBeLessThan(6 * 2 ** 20);
});
