// What a chat shows, from its history and its frames in any order.
import { describe, expect, it } from "vitest";

import { type ChatLog, EMPTY, type Frame, withFrame, withHistory } from "../src/features/chat/log";

const after = (log: ChatLog, ...frames: (Partial<Frame> & { type: string })[]): ChatLog =>
  frames.reduce((last, frame, index) => withFrame(last, { seq: index + 1, ...frame } as Frame), log);
const item = (role: "user" | "assistant", content: string, ids: { run_id?: string; event_id?: string }) =>
  ({ transcript_id: content, seq: 1, item_type: "message", created_at: 1, run_id: null, ...ids, role, content }) as ChatLog["items"][number];

describe("an answer", () => {
  it("grows with its fragments and is whole with its message", () => {
    const writing = after(EMPTY, { type: "run", run_id: "r", status: "running" }, { type: "delta", run_id: "r", content: "Hel" }, { type: "delta", run_id: "r", content: "lo" });
    expect(writing.writing).toBe("Hello");
    const done = after(writing, { type: "message", run_id: "r", message: { content: "Hello" } }, { type: "run", run_id: "r", status: "completed" });
    expect(done).toMatchObject({ writing: "", running: null, fresh: [{ content: "Hello" }] });
  });

  it("is begun anew when the Host says so", () => {
    expect(after({ ...EMPTY, writing: "old" }, { type: "delta", run_id: "r", content: "whole", replace: true }).writing).toBe("whole");
  });

  it("is shown once when the history has it too", () => {
    const fresh = after(EMPTY, { type: "message", run_id: "r", message: { content: "Hello" } });
    expect(withHistory(fresh, [item("assistant", "Hello", { run_id: "r" })]).fresh).toEqual([]);
  });

  it("that was stopped says so, and what was half written is gone", () => {
    const log = after(EMPTY, { type: "run", run_id: "r", status: "running" }, { type: "delta", run_id: "r", content: "Hel" }, { type: "run", run_id: "r", status: "cancelled" });
    expect(log).toMatchObject({ running: null, writing: "", notices: [{ key: "chat.stopped" }] });
  });

  it("that ends a run leaves a later one going", () => {
    const log = after(EMPTY, { type: "run", run_id: "second", status: "running" }, { type: "run", run_id: "first", status: "completed" });
    expect(log.running).toBe("second");
  });
});

describe("what was said", () => {
  it("stays until the history has its event", () => {
    const said = after({ ...EMPTY, own: [{ id: "a", text: "Hi", attachments: [] }] }, { type: "accepted", id: "a", event_id: "e" });
    expect(withHistory(said, []).own).toHaveLength(1);
    expect(withHistory(said, [item("user", "Hi", { event_id: "e" })]).own).toEqual([]);
  });
});

describe("beside the messages", () => {
  it("a tool call changes in place", () => {
    const log = after(EMPTY, { type: "tool", run_id: "r", tool_call_id: "1", tool_name: "time.now", status: "started" }, { type: "tool", run_id: "r", tool_call_id: "1", tool_name: "time.now", status: "completed" });
    expect(log.tools.r).toEqual([{ id: "1", name: "time.now", status: "completed" }]);
  });

  it("a decision takes the place of its question", () => {
    const log = after(EMPTY, { type: "approval", approval_id: "a", status: "pending" }, { type: "approval", approval_id: "a", status: "approved" });
    expect(log.asks.map((ask) => ask.status)).toEqual(["approved"]);
  });

  it("an error is a notice in the Host's words", () => {
    expect(after(EMPTY, { type: "error", code: "conflict", message: "no run is active" }).notices[0]?.text).toBe("no run is active");
  });
});
