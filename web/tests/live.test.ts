// The queries that a frame of the live channel makes stale.
import type { QueryClient } from "@tanstack/react-query";
import { describe, expect, it, vi } from "vitest";

import { follow, staleKeys } from "../src/api/live";
import { series } from "../src/features/home/metricsModel";

const change = <Type extends string>(type: Type) => ({ type, id: "id", state: "changed", seq: 1 });

describe("a frame of the live channel", () => {
  it("invalidates the queries of its subject", () => {
    expect(staleKeys(change("run"))).toEqual([["runs", "head"], ["runs", "one", "id"], ["stats"]]);
    expect(staleKeys({ ...change("configuration"), what: "bots" })).toEqual([["bots"]]);
    expect(staleKeys(change("approval"))).toEqual([["approvals"], ["runs", "one"]]);
  });

  it("of an unknown type invalidates nothing", () => {
    expect(staleKeys(JSON.parse('{"type": "later invention", "id": "x", "state": "new", "seq": 1}'))).toEqual([]);
  });

  it("that reports missed frames invalidates everything", () => {
    expect(staleKeys({ type: "missed", seq: 1 })).toBe("everything");
  });
});

describe("a chart", () => {
  it("has a column for every hour, also for those in which nothing happened", () => {
    const hour = 3_600_000;
    const points = series(
      [
        { hour: 98 * hour, n: 3 },
        { hour: 100 * hour, n: 1 },
      ],
      4,
      100 * hour + 5,
      (item) => item.n ?? 0,
    );
    expect(points.map((point) => point.value)).toEqual([0, 3, 0, 1]);
  });

  it("of a month adds hours up and loses none", () => {
    const hour = 3_600_000;
    const items = Array.from({ length: 744 }, (_, index) => ({ hour: (1000 - index) * hour, n: 1 }));
    const points = series(items, 744, 1000 * hour, (item) => item.n ?? 0);
    expect(points.reduce((sum, point) => sum + point.value, 0)).toBe(744);
  });
});

describe("the channel after a cut", () => {
  class Peer {
    static all: Peer[] = [];
    onmessage: ((message: { data: string }) => void) | null = null;
    onclose: ((event: { code: number }) => void) | null = null;
    constructor(readonly address: string) {
      Peer.all.push(this);
    }
    close() {}
    tell(...frames: object[]) {
      for (const frame of frames) this.onmessage?.({ data: JSON.stringify(frame) });
    }
  }
  const last = () => Peer.all.at(-1)!;

  it("resumes, reloads only stale queries, and everything when too much was missed", () => {
    vi.useFakeTimers();
    vi.stubGlobal("WebSocket", Peer);
    const stale = vi.fn();
    const client = { invalidateQueries: (filter?: { queryKey: string[] }) => stale(filter?.queryKey ?? "everything") };
    const stop = follow(client as unknown as QueryClient, () => undefined);
    last().tell({ type: "connected", seq: 10 }, { type: "bot", id: "b", state: "connected", seq: 10 });
    vi.advanceTimersByTime(1000);
    // once: what was read before the channel was there
    expect(stale.mock.calls).toEqual([["everything"]]);
    stale.mockClear();
    last().tell({ type: "approval", id: "a", state: "pending", seq: 11 });
    vi.advanceTimersByTime(1000);
    expect(stale.mock.calls).toEqual([[["approvals"]], [["runs", "one"]]]);
    last().onclose?.({ code: 1006 });
    vi.advanceTimersByTime(500);
    expect(new URL(last().address).searchParams.get("after")).toBe("11");
    last().tell({ type: "connected", seq: 14 }, { type: "bot", id: "b", state: "error", seq: 13 });
    vi.advanceTimersByTime(1000);
    expect(stale).toHaveBeenLastCalledWith(["bots"]);
    last().tell({ type: "missed", seq: 13 });
    expect(stale).toHaveBeenLastCalledWith("everything");
    stop();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
});
