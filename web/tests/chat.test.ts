// The state of a chat, from its transcript and its frames in any order.
import { describe, expect, it } from "vitest";

import type { ChatFrame } from "../src/api/frames";
import {
  applyFrame,
  applyHistory,
  applyUserMessage,
  type ChatState,
  EMPTY_CHAT,
  filesOf,
  lines,
} from "../src/features/chat/chatState";
import { chatSearch } from "../src/features/chat/search";
import { suggestionsOf } from "../src/features/chat/suggestions";

type Unnumbered<Frame> = Frame extends ChatFrame ? Omit<Frame, "seq"> : never;
const after = (log: ChatState, ...frames: Unnumbered<ChatFrame>[]): ChatState =>
  frames.reduce((last, frame, index) => applyFrame(last, { ...frame, seq: index + 1 }), log);
const item = (role: "user" | "assistant", content: string, ids: { run_id?: string; event_id?: string }, more = {}) =>
  ({
    transcript_id: content,
    seq: 1,
    item_type: "message",
    created_at: 1,
    run_id: null,
    ...ids,
    role,
    content,
    ...more,
  }) as ChatState["items"][number];
const shown = (log: ChatState) => lines(log.items, log.pending, log.thoughts);
const said = (log: ChatState) => shown(log).map((line) => `${line.role}: ${line.text}`);
const own = (text: string, id = "a") => applyUserMessage(EMPTY_CHAT, { id, text, files: [] });

describe("an answer", () => {
  it("grows with its deltas and is complete with its message", () => {
    const writing = after(
      EMPTY_CHAT,
      { type: "run", run_id: "r", status: "running" },
      { type: "delta", run_id: "r", content: "Hel" },
      { type: "delta", run_id: "r", content: "lo" },
    );
    expect(writing.draft).toBe("Hello");
    const done = after(
      writing,
      { type: "message", run_id: "r", message: { content: "Hello" } },
      { type: "run", run_id: "r", status: "completed" },
    );
    expect(done).toMatchObject({ draft: "", running: null });
    expect(said(done)).toEqual(["agent: Hello"]);
  });

  it("replaces its draft when a delta says so", () => {
    expect(
      after({ ...EMPTY_CHAT, draft: "old" }, { type: "delta", run_id: "r", content: "whole", replace: true }).draft,
    ).toBe("whole");
  });

  it("is shown once when the history contains it too, in either order", () => {
    const message = { type: "message", run_id: "r", message: { content: "Hello" } } as const;
    const items = [item("assistant", "Hello", { run_id: "r" })];
    expect(said(applyHistory(after(EMPTY_CHAT, message), items))).toEqual(["agent: Hello"]);
    expect(said(after(applyHistory(EMPTY_CHAT, items), message))).toEqual(["agent: Hello"]);
  });

  it("keeps its reasoning, which the history does not contain", () => {
    const log = after(EMPTY_CHAT, {
      type: "message",
      run_id: "r",
      message: { content: "Hello", reasoning: "A greeting." },
    });
    expect(shown(log)[0]!.thinking).toBe("A greeting.");
    expect(shown(applyHistory(log, [item("assistant", "Hello", { run_id: "r" })]))[0]!.thinking).toBe("A greeting.");
  });

  it("shows reasoning during the run until the answer contains it", () => {
    const log = after(
      EMPTY_CHAT,
      { type: "run", run_id: "r", status: "running" },
      { type: "thinking", run_id: "r", content: "A gre" },
      { type: "thinking", run_id: "r", content: "eting." },
    );
    expect(log.reasoning).toBe("A greeting.");
    expect(
      after(log, { type: "message", run_id: "r", message: { content: "Hello", reasoning: "A greeting." } }).reasoning,
    ).toBe("");
  });

  it("of a stopped run shows that it was stopped, without the draft", () => {
    const log = after(
      EMPTY_CHAT,
      { type: "run", run_id: "r", status: "running" },
      { type: "delta", run_id: "r", content: "Hel" },
      { type: "run", run_id: "r", status: "cancelled" },
    );
    expect(log).toMatchObject({ running: null, draft: "", notices: [{ key: "chat.stopped" }] });
  });

  it("that ends a run leaves a later run and its draft unchanged", () => {
    const log = after(
      EMPTY_CHAT,
      { type: "run", run_id: "second", status: "running" },
      { type: "delta", run_id: "second", content: "So" },
      { type: "run", run_id: "first", status: "completed" },
    );
    expect(log).toMatchObject({ running: "second", draft: "So" });
  });
});

describe("a sent message", () => {
  it("stays until the history contains its event", () => {
    const log = after(own("Hi"), { type: "accepted", id: "a", event_id: "e" });
    expect(said(applyHistory(log, []))).toEqual(["you: Hi"]);
    expect(applyHistory(log, [item("user", "Hi", { event_id: "e" })]).pending).toEqual([]);
  });

  it("is shown as pending until the Host accepts it", () => {
    expect(shown(own("Hi"))[0]!.isPending).toBe(true);
    expect(shown(after(own("Hi"), { type: "accepted", id: "a", event_id: "e" }))[0]!.isPending).toBe(false);
  });

  it("keeps its order, also while an answer is not in the history yet", () => {
    const log = after(own("one"), { type: "message", run_id: "r", message: { content: "first" } });
    expect(said(applyUserMessage(log, { id: "b", text: "two", files: [] }))).toEqual([
      "you: one",
      "agent: first",
      "you: two",
    ]);
  });

  it("from another tab is shown, and one from this tab is not repeated", () => {
    expect(
      said(after(EMPTY_CHAT, { type: "said", id: "x", event_id: "e", text: "Hi from there", contents: [] })),
    ).toEqual(["you: Hi from there"]);
    expect(said(after(own("Hi"), { type: "said", id: "a", event_id: "e", text: "Hi", contents: [] }))).toEqual([
      "you: Hi",
    ]);
    const read = applyHistory(EMPTY_CHAT, [item("user", "Hi", { event_id: "e" })]);
    expect(said(after(read, { type: "said", id: "x", event_id: "e", text: "Hi", contents: [] }))).toEqual(["you: Hi"]);
  });

  it("that is not accepted yet is kept when the session is reset", () => {
    const log = after(
      { ...own("Hi"), conversationId: "old", items: [item("user", "before", {})] },
      { type: "connected", session: "default", agent_id: "a", conversation_id: "new" },
    );
    expect(log.conversationId).toBe("new");
    expect(said(log)).toEqual(["you: Hi"]);
  });
});

describe("beside the messages", () => {
  it("a tool call changes in place", () => {
    const log = after(
      EMPTY_CHAT,
      { type: "tool", run_id: "r", tool_call_id: "1", tool_name: "time.now", status: "started" },
      { type: "tool", run_id: "r", tool_call_id: "1", tool_name: "time.now", status: "completed" },
    );
    expect(log.tools.r).toEqual([{ id: "1", name: "time.now", status: "completed" }]);
  });

  const pending = {
    type: "approval",
    approval_id: "a",
    status: "pending",
    keyword: "k",
    action: "message.send",
    words: "",
    run_id: "r",
    expires_at: 1,
    decided_by: null,
    reason: null,
  } as const;

  it("a decision takes the place of its question", () => {
    const log = after(EMPTY_CHAT, pending, { ...pending, status: "approved" });
    expect(log.asks.map((ask) => ask.status)).toEqual(["approved"]);
    expect(applyUserMessage(log, { id: "b", text: "thanks", files: [] }).asks).toEqual([]);
  });

  it("an error is a notice with the Host's message", () => {
    expect(after(EMPTY_CHAT, { type: "error", code: "conflict", message: "no run is active" }).notices[0]?.text).toBe(
      "no run is active",
    );
  });

  const failed = {
    type: "error",
    code: "model.unavailable",
    message: "The model service is not available.",
    run_id: "r",
    in_history: true,
  } as const;
  const notice = item("assistant", "The model service is not available.", { run_id: "r" }, { item_type: "notice" });

  it("a failure is shown once, whether the history or the frame comes first", () => {
    for (const log of [
      after(EMPTY_CHAT, failed),
      applyHistory(after(EMPTY_CHAT, failed), [notice]),
      after(applyHistory(EMPTY_CHAT, [notice]), failed),
    ]) {
      expect(said(log)).toEqual(["notice: The model service is not available."]);
      expect(log.notices).toEqual([]);
    }
  });

  it("a failure stays above later answers", () => {
    const log = after(applyUserMessage(after(EMPTY_CHAT, failed), { id: "b", text: "Again", files: [] }), {
      type: "message",
      run_id: "s",
      message: { content: "Here I am." },
    });
    expect(said(log)).toEqual(["notice: The model service is not available.", "you: Again", "agent: Here I am."]);
  });

  it("a failure of a message without a run is shown once", () => {
    const { run_id: _, ...expired } = { ...failed, message: "This message waited too long." };
    const kept = item("assistant", "This message waited too long.", {}, { item_type: "notice" });
    expect(said(applyHistory(after(EMPTY_CHAT, expired), [kept]))).toEqual(["notice: This message waited too long."]);
  });

  it("files stored by the Host are shown once, and external files are not shown", () => {
    const image = { type: "image", artifact_id: "a1", name: "cat.png", mime_type: "image/png" };
    expect(
      filesOf([
        { type: "text", text: "see" },
        image,
        { ...image, artifact_type: "image" },
        { type: "image", url: "https://elsewhere/spy.png" },
      ]),
    ).toEqual([{ artifact_id: "a1", name: "cat.png", mime_type: "image/png" }]);
  });
});

describe("suggestions", () => {
  const answered = (metadata: object) => ({
    ...EMPTY_CHAT,
    items: [item("user", "Hi", {}), item("assistant", "Hello", { run_id: "r" }, { metadata })],
  });

  it("are those of the last answer, or the options of its question", () => {
    expect(suggestionsOf(answered({ suggestions: ["And then?", "Why?", "Why?", 7] }))).toEqual(["And then?", "Why?"]);
    expect(suggestionsOf(answered({ question: { options: ["Approve", "Reject"] } }))).toEqual(["Approve", "Reject"]);
    expect(suggestionsOf(answered({}))).toEqual([]);
  });

  it("are gone when something is said or a run is active", () => {
    const state = answered({ suggestions: ["Why?"] });
    expect(suggestionsOf({ ...state, running: "r2" })).toEqual([]);
    expect(suggestionsOf(applyUserMessage(state, { id: "b", text: "No", files: [] }))).toEqual([]);
    expect(suggestionsOf({ ...state, items: [...state.items, item("user", "No", {})] })).toEqual([]);
  });
});

describe("the address of a chat", () => {
  it("names a session, or none", () => {
    expect(chatSearch({ session: "s1", other: 1 })).toEqual({ session: "s1" });
    expect(chatSearch({ session: 17 })).toEqual({ session: "17" });
    expect(chatSearch({ session: {} })).toEqual({});
  });
});
