// A page of a plugin: it calls its plugin with the role of the user, and reaches nothing else from its frame.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, it } from "vitest";
import type { Frame, Page } from "playwright-core";

import { VIEWER } from "./support/people";
import { visit, world } from "./support/visit";
import { word } from "./support/words";

const TITLE = "Notice board";

async function openBoard(page: Page): Promise<Frame> {
  const card = page.locator("section").filter({ has: page.getByText("test/paged-agent ·") });
  await card.getByRole("button", { name: word("plugins.pages"), exact: true }).click();
  await card.getByRole("button", { name: word("plugins.openPage", { name: TITLE }) }).click();
  const frame = await (await page.waitForSelector(`iframe[title="${TITLE}"]`)).contentFrame();
  await frame!.getByRole("heading", { name: TITLE }).waitFor();
  return frame!;
}

async function pin(frame: Frame, note: string, result: RegExp): Promise<void> {
  await frame.getByLabel("Note").fill(note);
  await frame.getByRole("button", { name: "Pin" }).click();
  await frame.getByText(result).waitFor();
}

/** What code in the frame gets when it tries to reach something: the value, or the name of the error. */
const tried = (frame: Frame, code: string) =>
  frame.evaluate(async (code) => {
    try {
      return String(await (0, eval)(`(async () => (${code}))()`));
    } catch (error) {
      return (error as Error).name;
    }
  }, code);

/** Another server on this machine, which counts its requests until it is closed. */
async function listen(): Promise<{ address: string; close: () => Promise<number> }> {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const close = () => new Promise<number>((closed) => server.close(() => closed(requests)));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

it("calls its plugin with the role of the user, and each call is in the audit", async () => {
  await world.install("paged-agent");
  const { page } = await visit("/plugins");
  await pin(await openBoard(page), "Closed on Monday", /"pinned":"Closed on Monday","by":"owner"/);
  const audit = await world.api<{ items: { action: string; resource: string }[] }>("GET", "/audit");
  expect(audit.items.find(({ action }) => action === "plugin.page_call")?.resource).toBe("test/paged-agent/board");

  const looker = { ...VIEWER, email: "reads@example.org" };
  await world.api("POST", "/users", { ...looker, role: "viewer" });
  const seen = await visit("/plugins", { as: looker });
  await pin(await openBoard(seen.page), "Mine", /refused: Only admins may pin a note/);
  const card = seen.page.locator("section").filter({ has: seen.page.getByText("test/paged-agent ·") });
  await card.getByText(word("plugins.pageNeedsRole", { role: word("role.admin") })).waitFor();
});

it("has no origin, no cookies and no network, and can't leave its frame", async () => {
  await world.install("paged-agent");
  const made = await visit("/plugins");
  const { page } = made;
  const frame = await openBoard(page);
  expect(await frame.evaluate(() => origin)).toBe("null");
  expect(await tried(frame, "document.cookie")).toBe("SecurityError");
  expect(await tried(frame, "localStorage.length")).toBe("SecurityError");
  expect(await tried(frame, "parent.document.title")).toBe("SecurityError");
  expect(await tried(frame, "fetch('/api/v1/auth/me').then(({ status }) => status)")).toBe("TypeError");
  expect(await tried(frame, "fetch('https://elsewhere.example/').then(({ status }) => status)")).toBe("TypeError");
  expect(await tried(frame, "window.open('https://elsewhere.example/')")).toBe("null");
  expect(await tried(frame, "new WebSocket('wss://elsewhere.example/').readyState")).not.toBe("1");
  expect(await tried(frame, "typeof RTCPeerConnection")).toBe("undefined");
  const elsewhere = await listen();
  const refused = page.waitForEvent("console", (message) => message.text().includes("frame-src"));
  await frame.evaluate((address) => {
    new Image().src = `${address}/?stolen`;
    location.href = `${address}/?stolen`;
  }, elsewhere.address);
  await refused;
  expect(await elsewhere.close()).toBe(0);
  expect(new URL(page.url()).pathname).toBe("/plugins");
  expect(made.complaints.filter((each) => !/Content Security Policy|sandboxed/.test(each))).toEqual([]);
  made.complaints.length = 0; // what the browser refused is what this test wants
});

it("is refused what it asks of the web interface beyond its calls, and more calls than it may make", async () => {
  await world.install("paged-agent");
  const { page } = await visit("/plugins");
  const frame = await openBoard(page);
  const answers = await frame.evaluate(async () => {
    const { parlour } = window as unknown as { parlour: { call: (action: string) => Promise<unknown> } };
    const calls = Array.from({ length: 20 }, () => parlour.call("who").catch((error: { code: string }) => error.code));
    return Promise.all(calls);
  });
  expect(answers.filter((each) => each === "rate_limited").length).toBe(12);
  await frame.evaluate(() => {
    for (const message of [null, "x", { parlour: "call" }, { parlour: "call", id: "1", action: "who" }])
      parent.postMessage(message, "*");
  });
  await page.evaluate(() => postMessage({ parlour: "call", id: 1, action: "pin", data: { note: "forged" } }, "*"));
  await pin(frame, "Still here", /"pinned":"Still here"/);
});
