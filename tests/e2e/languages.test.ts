// The Host's own texts on the Chinese page: the state of a bot, and an error.
import { expect, it } from "vitest";

import { visit, world } from "./support/visit";
import { word } from "./support/words";

const CHINESE = { locale: "zh-CN" };

async function waitingBot(name: string): Promise<string> {
  const adapter_config = { mode: "reverse", host: "127.0.0.1", port: await world.freePort(), access_token: "e2e" };
  return (await world.api<{ bot_id: string }>("POST", "/bots", { name, adapter: "onebot11", adapter_config })).bot_id;
}

it("shows a bot's status in Chinese, and in English after the language is changed", async () => {
  const botId = await waitingBot("Waiting");
  const { page } = await visit(`/bots/${botId}`, CHINESE);
  await page.getByText("没有 OneBot 实现连接").waitFor();

  await page.getByRole("combobox", { name: word("settings.language", {}, "zh-Hans") }).selectOption("en");

  await page.getByText(/no OneBot implementation is connected/i).waitFor();
  expect(await page.getByText("没有 OneBot 实现连接").count()).toBe(0);
});

it("shows a field error in Chinese", async () => {
  const { page } = await visit("/bots/new", CHINESE);
  await page.getByRole("button", { name: /OneBot 11/ }).click();
  await page.getByLabel(word("common.name", {}, "zh-Hans")).fill("Open to all");
  await page.getByLabel("监听地址").fill("0.0.0.0");
  await page.getByRole("button", { name: word("bots.connect", {}, "zh-Hans") }).click();

  await page.getByText("为必填项，除非机器人只监听").first().waitFor();
});
