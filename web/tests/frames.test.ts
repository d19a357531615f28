// Frames of a real Host, as the chat, the replay and the live channel read them.
import { describe, expect, it } from "vitest";

import { type ChatFrame, isReplayFrame } from "../src/api/frames";
import { staleKeys } from "../src/api/live";
import { applyFrame, applyUserMessage, type ChatState, EMPTY_CHAT, lines } from "../src/features/chat/chatState";
import { stateAt, timedFrames } from "../src/features/runs/replayModel";
import { answers, approval, completedReplay, failedReplay, live, otherTab } from "./recorded/frames";

const FAILURE = "The model service refused access: its key or account needs the operator's attention.";
const after = (frames: ChatFrame[], log: ChatState = EMPTY_CHAT): ChatState => frames.reduce(applyFrame, log);
const shown = (log: ChatState) =>
  lines(log.items, log.pending, log.thoughts).map((line) => `${line.role}: ${line.text}`);
const until = (frames: ChatFrame[], type: ChatFrame["type"]) =>
  frames.slice(0, frames.findIndex((frame) => frame.type === type) + 1);

describe("recorded frames of a chat", () => {
  it("show a message, its answer, and why another one has none", () => {
    const log = after(answers, applyUserMessage(EMPTY_CHAT, { id: "m1", text: "Hi", files: [] }));
    expect(shown(log)).toEqual(["you: Hi", "agent: Hello", "you: Again", "you: Fail", `notice: ${FAILURE}`]);
    expect(log).toMatchObject({ conversationId: "id-2", running: null, draft: "", reasoning: "" });
    expect(log.notices.map((notice) => notice.key ?? notice.text)).toEqual([
      "chat.stopped",
      "no run is active in this session",
      "We go home at five.",
    ]);
  });

  it("show tool calls, reasoning and the text of a run in progress", () => {
    const log = after(until(answers, "delta"));
    expect(log).toMatchObject({ running: "id-3", draft: "Hello", reasoning: "A greeting." });
    expect(log.tools).toEqual({ "id-3": [{ id: "call-1", name: "time.now", status: "completed" }] });
  });

  it("keep the reasoning with its answer", () => {
    const log = after(answers);
    expect(lines(log.items, log.pending, log.thoughts).map((line) => line.thinking)).toContain("A greeting.");
  });

  it("show the same in another tab of the session", () => {
    expect(shown(after(otherTab))).toEqual(shown(after(answers)));
  });

  it("show an approval, and its decision in its place", () => {
    expect(after(until(approval, "approval")).asks).toMatchObject([
      { approval_id: "id-11", status: "pending", action: "message.send", decided_by: null },
    ]);
    expect(after(approval).asks).toMatchObject([
      { approval_id: "id-11", status: "approved", decided_by: "api_key:id-12" },
    ]);
  });
});

describe("recorded frames of a replay", () => {
  it("are all of a known type", () => {
    expect([...completedReplay, ...failedReplay].every(isReplayFrame)).toBe(true);
    expect(isReplayFrame({ type: "later invention", at: 1 })).toBe(false);
  });

  it("end with what the chat showed", () => {
    expect(shown(stateAt(timedFrames(completedReplay), Infinity))).toEqual(["agent: Hello"]);
    expect(shown(stateAt(timedFrames(failedReplay), Infinity))).toEqual([`notice: ${FAILURE}`]);
  });
});

describe("recorded frames of the live channel", () => {
  it("make stale what they are about", () => {
    const quiet = live.filter((frame) => staleKeys(frame).length === 0).map((frame) => frame.type);
    expect(quiet).toEqual(["connected"]);
  });
});
