// The list of runs: its address, what of it is read again, and its keys.
import { describe, expect, it } from "vitest";

import type { Run } from "../src/api/types";
import { next } from "../src/features/runs/RunList";
import { filterOf, isFiltered, ofSender, runSearch } from "../src/features/runs/search";
import { joined } from "../src/features/runs/useRuns";

const runs = (...ids: number[]) => ids.map((id) => ({ run_id: `run-${String(id).padStart(4, "0")}` }) as Run);
const ids = (rows: Run[]) => rows.map((run) => Number(run.run_id.slice(4)));

describe("the address of the list", () => {
  it("holds the filters, and lets go of what is none", () => {
    expect(runSearch({ status: "failed", agent: "a", within: "day", q: "tea", page: 3 })).toEqual({
      status: "failed",
      agent: "a",
      within: "day",
      q: "tea",
    });
    expect(runSearch({ status: "sleeping", within: "century", q: "" })).toEqual({});
    expect(isFiltered({ status: undefined })).toBe(false);
  });

  it("names exactly one sender, by the id that the sender has at that bot", () => {
    const event = { actor_id: "470" };
    expect(ofSender({ bot_id: "b", event })).toEqual({ actor: "470", bot: "b" });
    expect(filterOf(ofSender({ bot_id: "b", event })!, 0)).toEqual({ actor: "470", bot_id: "b" });
    expect(filterOf(runSearch(ofSender({ bot_id: null, event })!), 0)).toEqual({ actor: "470", bot_id: "" });
    expect(ofSender({ bot_id: "b", event: { actor_id: null } })).toBeNull();
    expect(ofSender({ bot_id: "b", event: null })).toBeNull();
    expect(isFiltered({ actor: "470" })).toBe(true);
  });

  it("asks the same within a minute", () => {
    const at = (now: number) => filterOf({ within: "hour", agent: "a" }, now);
    expect(at(7_200_000)).toEqual({ agent_id: "a", since: 3_600_000 });
    expect(at(7_259_999)).toEqual(at(7_200_000));
  });
});

describe("the rows", () => {
  it("are the newest, then what was read before them, each once", () => {
    const { rows, gap } = joined({ items: runs(9, 8, 7), next_cursor: "more" }, runs(8, 7, 6, 5));
    expect(ids(rows)).toEqual([9, 8, 7, 6, 5]);
    expect(gap).toBe(false);
  });

  it("lose what no longer fits the filter where the newest part would have it", () => {
    expect(ids(joined({ items: runs(9, 7), next_cursor: "more" }, runs(8, 7, 6)).rows)).toEqual([9, 7, 6]);
    expect(ids(joined({ items: runs(9), next_cursor: null }, runs(9, 8, 6)).rows)).toEqual([9]);
    expect(joined({ items: [], next_cursor: null }, runs(8)).rows).toEqual([]);
  });

  it("are there although a search found nothing among the newest", () => {
    expect(ids(joined({ items: [], next_cursor: "more" }, runs(8, 7)).rows)).toEqual([8, 7]);
    expect(ids(joined(undefined, runs(8)).rows)).toEqual([8]);
  });

  it("are read again when more runs arrived than the newest page holds", () => {
    expect(joined({ items: runs(99, 98), next_cursor: "more" }, runs(7, 6)).gap).toBe(true);
  });
});

describe("a key", () => {
  it("leads to a row and never beyond the list", () => {
    expect(next("ArrowDown", -1, 5)).toBe(0);
    expect(next("ArrowUp", 0, 5)).toBe(0);
    expect(next("PageDown", 3, 5)).toBe(4);
    expect(next("End", 0, 5)).toBe(4);
    expect(next("a", 0, 5)).toBeNull();
    expect(next("ArrowDown", -1, 0)).toBeNull();
  });
});
