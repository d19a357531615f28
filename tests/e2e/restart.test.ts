// The Host goes away and comes back under an open page.
import { expect, it } from "vitest";

import { localAgent } from "./support/furnish";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

it("shows that the Host is unreachable, keeps sent messages, and continues after the restart", async () => {
  const agentId = await localAgent(world, "Faithful");
  await world.modelWill({ pieces: ["I am back."] });
  const { page } = await visit(`/chat/${agentId}`);
  await page.getByRole("textbox", { name: word("chat.placeholder") }).fill("Are you there?");

  await world.stop();
  try {
    await page.getByText(word("chat.offline")).waitFor();
    await page.getByText(word("errors.reconnecting")).waitFor();
    const composer = (await page.getByRole("button", { name: word("chat.send") }).boundingBox())!;
    expect(composer.y + composer.height, "the banner leaves room for the composer").toBeLessThanOrEqual(
      page.viewportSize()!.height,
    );
    await page.getByRole("button", { name: word("chat.send") }).click();
    await page
      .getByRole("article", { name: word("chat.you") })
      .filter({ hasText: "Are you there?" })
      .waitFor();
  } finally {
    await world.resume();
  }

  await page
    .getByRole("article", { name: word("chat.agent") })
    .filter({ hasText: "I am back." })
    .waitFor();
  await page.getByText(word("chat.offline")).waitFor({ state: "detached" });
  await page.getByText(word("errors.reconnecting")).waitFor({ state: "detached" });
  expect(await page.getByRole("article", { name: word("chat.you") }).count()).toBe(1);
});
