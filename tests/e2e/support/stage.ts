// Starts once what all tests share: the browser, and a world whose owner has an account.
import type { TestProject } from "vitest/node";

import { launchServer } from "../browser/launch.mjs";
import { OWNER } from "./people";
import { OwnWorld, type Place } from "./world";

declare module "vitest" {
  interface ProvidedContext {
    browser: string;
    place: Place;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [browser, world] = await Promise.all([launchServer(), OwnWorld.begin()]);
  await makeOwner(world.place.address);
  project.provide("browser", browser.wsEndpoint());
  project.provide("place", world.place);
  return async () => {
    await browser.close();
    await world.end();
  };
}

async function makeOwner(address: string): Promise<void> {
  const headers = { "Content-Type": "application/json", Origin: address };
  const response = await fetch(`${address}/api/v1/auth/setup`, {
    method: "POST",
    headers,
    body: JSON.stringify({ ...OWNER, token: "" }),
  });
  if (response.status !== 201) throw new Error(`no owner: ${await response.text()}`);
}
