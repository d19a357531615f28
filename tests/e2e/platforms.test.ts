// What platforms need besides a form: a login by QR code, and the addresses that their consoles ask for.
import { expect, it } from "vitest";

import { until } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const OUTBOUND = ["203.0.113.7", "203.0.113.8"];
const KEYS = { token: "token", encoding_aes_key: "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C" };

type Bot = { bot_id: string; secrets_set: string[]; status: { state: string } };

async function makeBot(name: string, adapter: string, adapter_config: object): Promise<string> {
  return (await world.api<Bot>("POST", "/bots", { name, adapter, adapter_config })).bot_id;
}

it("logs a bot in by a QR code that expires, is scanned, asks for digits and is confirmed", async () => {
  const botId = await makeBot("Pocket", "wechat", { base_url: await world.openGateway() });
  const { page } = await visit(`/bots/${botId}`);
  const state = (key: string) =>
    page
      .getByRole("status")
      .filter({ hasText: word(key) })
      .waitFor();

  await page.getByRole("button", { name: word("botLogin.start") }).click();
  await page.getByRole("img", { name: word("botLogin.qr") }).waitFor();
  await state("botLogin.waiting");
  await world.moveLogin("expired");
  await state("botLogin.refreshed");
  expect(await world.moveLogin("scaned"), "another code was fetched").toBe(2);
  await state("botLogin.scanned");
  await world.moveLogin("need_verifycode", "42");
  await state("botLogin.code_needed");
  for (const [digits, next] of [
    ["41", "botLogin.codeIsWrong"],
    ["42", "botLogin.confirmed"],
  ] as const) {
    await page.getByLabel(word("botLogin.code"), { exact: true }).fill(digits);
    await page.getByRole("button", { name: word("botLogin.send") }).click();
    await state(next);
  }
  await until("the bot is connected", async () => {
    const bot = await world.api<Bot>("GET", `/bots/${botId}`);
    return bot.status.state === "connected" && bot.secrets_set.includes("token");
  });
});

it("shows the addresses for a console, and what the platform would see", async () => {
  await world.api("PUT", "/settings", { workspace: { outbound_ips: OUTBOUND } });
  const botId = await makeBot("Front desk", "wecombot", { mode: "webhook", ...KEYS });
  const { page } = await visit(`/bots/${botId}`);
  await page.getByRole("tab", { name: word("nav.settings") }).click();

  await page.getByText(OUTBOUND.join(", ")).waitFor();
  await page.getByText(word("botAddresses.unknown")).waitFor();
  await page.getByRole("button", { name: word("botAddresses.check") }).click();
  await page.getByRole("status").filter({ hasText: "http.public_url" }).waitFor();
  await world.api("PUT", "/settings", { workspace: { outbound_ips: null } });
});
