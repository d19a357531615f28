// No page shows internals in either language: names of fields, requests, generated ids, keys of texts.
import { beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { bot, localAgent, pipeline, until } from "./support/furnish";
import { type Ids, PAGES } from "./support/pages";
import { go, settled, visit, world } from "./support/visit";
import { word } from "./support/words";

const INTERNAL: Record<string, RegExp> = {
  request: /\b(GET|POST|PUT|PATCH|DELETE) \/|\/api\/v\d/,
  id: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/,
  field: /\b[a-z]+(_[a-z0-9]+)+\b/,
  component: /\bplugin:[a-z]/,
  event: /\b(message|run|tool|model|approval)\.[a-z]+(\.[a-z]+)?\b/,
};

let ids: Ids;

/** A run with a model call, and usage of an agent and a model that are deleted since. */
beforeAll(async () => {
  const agentId = await localAgent(world, "Plain");
  const { botId, account } = await bot(world, "Plain bot", agentId);
  await world.modelWill({ pieces: ["In plain words."] }, { pieces: ["Gone soon."] });
  await world.say(account, "Hello", 4711, { name: "Ida" });
  await world.answered(account, 1);
  const [run] = (await world.api<{ items: { run_id: string }[] }>("GET", `/runs?agent_id=${agentId}`)).items;
  ids = { agentId, botId, runId: run!.run_id, pipelineId: await pipeline(world, "Plain desk", agentId) };

  const gone = await localAgent(world, "Gone");
  await world.api("POST", "/events?wait=result", { agent_id: gone, input: { text: "Hello" } });
  await until("its usage is counted", async () =>
    (await world.api<{ items: { agent_id: string }[] }>("GET", "/stats/usage?days=2")).items.some(
      (row) => row.agent_id === gone,
    ),
  );
  await world.api("DELETE", `/agents/${gone}`);
});

/**
 * Names that users type: variables of a prompt, an example of a JSON object, the message `tell BOT` of chat.test.ts, which
 * the list of runs shows if that file runs first; the path of a plugin on the disk; and names of tools in policies.
 */
const TYPED = /\{\{[\w.]+\}\}|\{".*"\}|\btell [0-9a-f-]{36}|(\/[\w.-]+)+\.py\b|\bskills\.(register|edit)_skill\b/g;

/** Returns the visible text, without collapsed parts. */
async function internals(page: Page): Promise<string[]> {
  const text = await page.locator("body").innerText();
  return text
    .replaceAll(TYPED, "")
    .split("\n")
    .flatMap((line) =>
      Object.entries(INTERNAL)
        .filter(([, form]) => form.test(line))
        .map(([kind]) => `${kind}: ${line.trim()}`),
    );
}

it.each(["en-US", "zh-CN"])("shows no internal names on any page or tab (%s)", async (locale) => {
  const { page } = await visit("/", { locale });
  const found: Record<string, string[]> = {};
  for (const [name, path] of PAGES) {
    await go(page, path(ids));
    found[name] = await internals(page);
    for (const tab of (await page.getByRole("tab").all()).slice(1)) {
      await tab.click();
      await settled(page);
      found[`${name}: ${await tab.innerText()}`] = await internals(page);
    }
  }
  await page.goto("/models?tab=usage");
  await page
    .getByRole("main")
    .getByRole("combobox", { name: word("models.usageBy", {}, locale === "en-US" ? "en" : "zh-Hans") })
    .selectOption("agent");
  found["models: usage by agent"] = await internals(page);

  expect(Object.keys(found).length).toBeGreaterThan(PAGES.length + 12);
  expect(Object.entries(found).filter(([, lines]) => lines.length > 0)).toEqual([]);
});
