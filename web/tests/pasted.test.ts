// MCP servers as other programs keep them, read from what a person pasted.
import { describe, expect, it } from "vitest";

import type { McpServer } from "../src/api/types";
import { bodyOf, nameOf, readPasted } from "../src/features/tools/pasted";
import { confirmed, draftOf, needsConfirmation } from "../src/features/tools/server";

const paste = (content: unknown) => readPasted(JSON.stringify(content));

describe("a pasted mcpServers JSON", () => {
  it("becomes the servers it names, over stdio and over the network", () => {
    const { servers, problem } = paste({
      mcpServers: {
        "My Files": { command: "npx", args: ["-y", "files", 7], env: { TOKEN: "a", PORT: 1 } },
        docs: { url: "https://example.org/mcp", headers: { Authorization: "Bearer x" } },
        old: { type: "sse", url: "https://example.org/sse", disabled: true },
      },
    });
    expect(problem).toBeUndefined();
    expect(servers).toEqual([
      {
        name: "my-files",
        transport: "stdio",
        command: "npx",
        arguments: ["-y", "files", "7"],
        environment: { TOKEN: "a", PORT: "1" },
        enabled: true,
      },
      {
        name: "docs",
        transport: "http",
        url: "https://example.org/mcp",
        headers: { Authorization: "Bearer x" },
        enabled: true,
      },
      { name: "old", transport: "sse", url: "https://example.org/sse", headers: {}, enabled: false },
    ]);
  });

  it("may be VS Code's `servers`, or the servers alone", () => {
    for (const content of [{ servers: { a: { command: "x" } } }, { a: { command: "x" } }])
      expect(paste(content).servers.map((each) => each.name)).toEqual(["a"]);
  });

  it.each([
    ["{", "tools.pasteNotJson", undefined],
    ["[]", "tools.pasteNoServers", undefined],
    ['{"mcpServers": {}}', "tools.pasteNoServers", undefined],
    ['{"mcpServers": {"a": {"args": []}}}', "tools.pasteIncomplete", "a"],
    ['{"mcpServers": {"文件": {"command": "x"}}}', "tools.pasteName", "文件"],
    ['{"mcpServers": {"a b": {"command": "x"}, "A-B": {"command": "y"}}}', "tools.pasteTwice", "a-b"],
  ])("that can't be used says why: %s", (text, key, name) => {
    expect(readPasted(text)).toEqual({ servers: [], problem: { key, name } });
  });

  it("has names that the Host takes", () => {
    expect(["My  Files!", "_x", "A".repeat(60), "a.b/c"].map(nameOf)).toEqual([
      "my-files",
      "x",
      "a".repeat(40),
      "a-b-c",
    ]);
  });

  it("carries a confirmation for commands only", () => {
    const { servers } = paste({ a: { command: "x" }, b: { url: "https://h" } });
    expect(servers.map((each) => "confirmation" in bodyOf(each, "words"))).toEqual([true, false]);
  });
});

describe("a confirmation", () => {
  const server = {
    name: "a",
    transport: "stdio",
    command: "x",
    arguments: ["1"],
    environment: { K: "********" },
    url: "",
    headers: {},
    enabled: true,
    sandboxed: false,
    network: false,
    mounts: [],
    unsandboxed_by: "user:1",
  } as unknown as McpServer;

  it("is asked for a new command and for one that changed, not for a new name", () => {
    const draft = draftOf(server);
    expect(needsConfirmation(draft, undefined)).toBe(true);
    expect(needsConfirmation(draft, { ...server, unsandboxed_by: "" })).toBe(true);
    expect(needsConfirmation({ ...draft, name: "b" }, server)).toBe(false);
    expect(needsConfirmation({ ...draft, command: "x\n2" }, server)).toBe(true);
    expect(needsConfirmation({ ...draft, environment: { K: "new" } }, server)).toBe(true);
    expect(needsConfirmation({ ...draft, transport: "http" }, server)).toBe(false);
  });

  it("is sent in English, in any language of the page", () => {
    expect(confirmed(" 在沙箱外运行 ", "在沙箱外运行")).toBe("run without a sandbox");
    expect(confirmed("yes", "在沙箱外运行")).toBe("yes");
  });
});
