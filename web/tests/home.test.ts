// The figures of the first page, and what waits for a decision.
import { describe, expect, it } from "vitest";

import { actionKey, details, party } from "../src/features/approvals/approvalDetails";
import { type ChatState, lines } from "../src/features/chat/chatState";
import { amount, METRICS, roundUp, series } from "../src/features/home/metricsModel";
import { costOf, durationOf, percentChange } from "../src/features/runs/comparisonModel";
import { duration, stateAt, timedFrames } from "../src/features/runs/replayModel";
import { formatCost, fromNow } from "../src/lib/format";

const HOUR = 3_600_000;
const shown = (log: ChatState) => lines(log.items, log.pending, log.thoughts);
const measure = (name: string) => METRICS.find((each) => each.name === name)!;

describe("a measure", () => {
  const sums = {
    "runs.completed": 6,
    "runs.failed": 2,
    "runs.cancelled": 1,
    "runs.timeout": 1,
    run_milliseconds: 5000,
  };

  it("of failures counts neither what was completed nor what people cancelled", () => {
    expect(amount(sums, "runs.")).toBe(10);
    expect(measure("failed").of(sums)).toBe(3);
  });

  it("of time is an average, also where several hours share a column", () => {
    const items = [
      { hour: 100 * HOUR, "runs.completed": 1, run_milliseconds: 1000 },
      { hour: 99 * HOUR, "runs.completed": 3, run_milliseconds: 9000 },
    ];
    const points = series(items, 96, 100 * HOUR + 1, measure("latency").of);
    expect(points.at(-1)!.value).toBe(2500);
    expect(measure("latency").of({})).toBe(0);
  });

  it("is drawn under a round figure", () => {
    expect([0, 1, 3, 7, 18, 51, 121, 0.003].map(roundUp)).toEqual([2, 2, 4, 8, 20, 60, 160, 0.003]);
  });
});

describe("an approval", () => {
  it("names people of a platform as they are known there, and what the Host numbers in short", () => {
    expect(party("user:@boss:example.org")).toEqual({ isKey: false, id: "@boss:example.org", isShort: false });
    expect(party("user:1234567890")).toEqual({ isKey: false, id: "1234567890", isShort: false });
    expect(party("api_key:01a1eba4-4d03-710a-b41a-04601361f99e")).toEqual({
      isKey: true,
      id: "1361f99e",
      isShort: true,
    });
  });

  it("shows the complete action, with messages as they will be sent", () => {
    const call = {
      calls: [
        {
          api: "send_message",
          arguments: {
            target_id: "77",
            chain: [
              { type: "Plain", text: "The pool " },
              { type: "At", target: "9" },
            ],
          },
        },
        { api: "mute_member", arguments: { duration: 600 } },
      ],
    };
    expect(details({ call })).toEqual([
      { name: "target_id", value: "77" },
      { name: "chain", value: 'The pool {"type":"At","target":"9"}' },
      { name: "duration", value: "600" },
    ]);
  });

  it("of an action elsewhere has the same words", () => {
    expect(actionKey("elsewhere/message.send")).toBe("action.message_send");
  });
});

describe("two runs beside each other", () => {
  it("differ by a percentage", () => {
    expect(percentChange(150, 100)).toBe(50);
    expect(percentChange(50, 100)).toBe(-50);
    expect(percentChange(5, 0)).toBeNull();
    expect(percentChange(null, 5)).toBeNull();
    expect(durationOf({ started_at: 10, finished_at: null })).toBeNull();
  });
});

describe("the cost of a run", () => {
  it("is not shown as zero when a model has no prices", () => {
    expect(costOf({ cost_micros: 1200 }, "unknown")).toBe("0.0012");
    expect(costOf({ unpriced_calls: 1 }, "unknown")).toBe("unknown");
    expect(costOf({ unpriced_calls: 1, cost_micros: 1200 }, "unknown")).toBe("≥ 0.0012");
  });
});

describe("a replay", () => {
  const film = timedFrames([
    { type: "run", status: "running", run_id: "r", at: 1000 },
    { type: "delta", run_id: "r", content: "Hel", at: 1500 },
    { type: "delta", run_id: "r", content: "lo", at: 61_500 },
    { type: "message", run_id: "r", message: { content: "Hello" }, at: 61_600 },
    { type: "run", status: "completed", run_id: "r", at: 61_600 },
  ]);

  it("keeps the pace and cuts long pauses short", () => {
    expect(film.map((beat) => beat.offset)).toEqual([0, 500, 2500, 2600, 2600]);
    expect(duration(film)).toBe(2600);
    expect(duration([])).toBe(0);
  });

  it("shows at each moment what was seen then", () => {
    expect(stateAt(film, 600).draft).toBe("Hel");
    expect(stateAt(film, 2500).draft).toBe("Hello");
    const end = stateAt(film, 2600);
    expect([end.draft, end.running, shown(end).map((line) => line.text)]).toEqual(["", null, ["Hello"]]);
  });
});

describe("figures in words", () => {
  it("never show a small cost as zero", () => {
    expect([0, 36, 1200, 2_500_000].map(formatCost)).toEqual(["0", "<0.0001", "0.0012", "2.50"]);
  });

  it("show the remaining time", () => {
    expect(fromNow(60_000 * 30, 0, "en")).toBe("in 30 minutes");
    expect(fromNow(-HOUR * 5, 0, "en")).toBe("5 hours ago");
    expect(fromNow(HOUR * 24 * 3, 0, "en")).toBe("in 3 days");
  });
});
