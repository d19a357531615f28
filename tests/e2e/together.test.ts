// Two tabs change the same agent: the second gets a conflict and chooses. Nothing is lost silently.
import { expect, it } from "vitest";
import type { Page } from "playwright-core";

import { agent, ECHO, until } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const save = (page: Page) => page.getByRole("button", { name: word("common.save"), exact: true }).click();
const field = (page: Page, name: string) => page.getByRole("textbox", { name: word(name), exact: true });

it("shows the conflicting changes to the second user who saves, who can overwrite or load them", async () => {
  const agentId = await agent(world, "Shared", ECHO);
  const kept = () => world.api<{ name: string; description: string }>("GET", `/agents/${agentId}`);
  const { page: first, context } = await visit(`/agents/${agentId}`);
  const second = await context.newPage();
  await second.goto(`/agents/${agentId}`);
  const conflict = second.getByRole("alert", { name: word("changed.title", { name: "Shared" }) });

  await field(second, "common.description").fill("Written in the second");
  await field(first, "common.name").fill("Named in the first");
  await save(first);
  await first.getByText(word("common.saved")).waitFor();
  await save(second);
  await conflict.getByText(word("changed.now", { value: "Named in the first" })).waitFor();
  expect((await kept()).description).toBe("");
  await conflict.getByRole("button", { name: word("changed.mine") }).click();
  await second.getByText(word("common.saved")).waitFor();
  expect(await kept()).toMatchObject({ name: "Named in the first", description: "Written in the second" });

  await field(second, "common.description").fill("Written once more");
  await until(
    "the first has heard of it",
    async () => (await field(first, "common.description").inputValue()) === "Written in the second",
  );
  await field(first, "common.description").fill("Described in the first");
  await save(first);
  await first.getByText(word("common.saved")).waitFor();
  await save(second);
  const again = second.getByRole("alert", { name: word("changed.title", { name: "Named in the first" }) });
  await again.getByText(word("changed.yours", { value: "Written once more" })).waitFor();
  await again.getByRole("button", { name: word("changed.theirs") }).click();
  await again.waitFor({ state: "detached" });
  expect(await field(second, "common.description").inputValue()).toBe("Described in the first");
  expect((await kept()).description).toBe("Described in the first");
});
