// Which readings a happening makes stale.
import { describe, expect, it } from "vitest";

import { staleKeys } from "../src/api/live";
import { series } from "../src/features/home/figures";
import { numbered } from "../src/features/bots/RoutesEditor";
import { bodyOf } from "../src/features/tools/server";
import type { Route } from "../src/api/facts";

describe("a frame of the live channel", () => {
  it("makes stale what it is about", () => {
    expect(staleKeys({ type: "run" })).toContain("runs");
    expect(staleKeys({ type: "configuration", what: "bots" })).toEqual(["bots"]);
    expect(staleKeys({ type: "delivery", kind: "approval" })).toContain("approvals");
    expect(staleKeys({ type: "later invention" })).toEqual([]);
  });

  it("that says some were missed makes everything stale", () => {
    expect(staleKeys({ type: "missed" })).toBe("everything");
  });
});

describe("a chart", () => {
  it("has a column for every hour, also for those in which nothing happened", () => {
    const hour = 3_600_000;
    const points = series([{ hour: 98 * hour, n: 3 }, { hour: 100 * hour, n: 1 }], 4, 100 * hour + 5, (item) => item.n ?? 0);
    expect(points.map((point) => point.value)).toEqual([0, 3, 0, 1]);
  });

  it("of a month adds hours up and loses none", () => {
    const hour = 3_600_000;
    const items = Array.from({ length: 744 }, (_, index) => ({ hour: (1000 - index) * hour, n: 1 }));
    const points = series(items, 744, 1000 * hour, (item) => item.n ?? 0);
    expect(points.reduce((sum, point) => sum + point.value, 0)).toBe(744);
  });
});

describe("routes", () => {
  it("are tried in the order of the page", () => {
    const route = (route_id: string) => ({ route_id, priority: 0 }) as Route;
    const [first, second] = numbered([route("a"), route("b")]);
    expect(first!.priority).toBeGreaterThan(second!.priority);
  });
});

describe("an MCP server", () => {
  it("over stdio has a command and its arguments, and no address", () => {
    const body = bodyOf({ name: "files", transport: "stdio", url: "https://old", command: "npx\n-y\nserver", pairs: "TOKEN=a=b" });
    expect(body).toEqual({ name: "files", transport: "stdio", command: "npx", arguments: ["-y", "server"], environment: { TOKEN: "a=b" } });
  });

  it("over the network has headers", () => {
    expect(bodyOf({ name: "x", transport: "http", url: "https://h/mcp", command: "", pairs: "Authorization: Bearer a:b" })).toEqual({
      name: "x", transport: "http", url: "https://h/mcp", headers: { Authorization: "Bearer a:b" },
    });
  });
});
