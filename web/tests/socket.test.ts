// The chat socket: messages are sent once it is connected, after any interruption.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ChatFrame } from "../src/api/frames";
import { ChatSocket } from "../src/features/chat/socket";

class Peer {
  static all: Peer[] = [];
  static readonly OPEN = 1;
  readyState = 0;
  sent: { type: string; id?: string }[] = [];
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  constructor(readonly address: string) {
    Peer.all.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close(code = 1000) {
    this.readyState = 3;
    this.onclose?.({ code });
  }
  greet() {
    this.readyState = 1;
    this.tell({ type: "connected", seq: 5, conversation_id: "c" });
  }
  tell(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}
const last = () => Peer.all.at(-1)!;

beforeEach(() => {
  Peer.all = [];
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Peer);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function opened() {
  const listener = {
    onFrame: vi.fn<(frame: ChatFrame) => void>(),
    onStatus: vi.fn<(connected: boolean) => void>(),
    onLoggedOut: vi.fn<() => void>(),
  };
  return { socket: new ChatSocket("a", "s", listener), ...listener };
}

describe("what is said", () => {
  it("before the socket is there goes out with it, and again after a cut until it is accepted", () => {
    const { socket } = opened();
    socket.send({ type: "message", id: "m", text: "Hi" });
    expect(last().sent).toEqual([]);
    last().greet();
    expect(last().sent.map((frame) => frame.id)).toEqual(["m"]);
    last().close(1006);
    vi.advanceTimersByTime(300);
    last().greet();
    expect(last().sent.map((frame) => frame.id)).toEqual(["m"]);
    last().tell({ type: "accepted", id: "m", event_id: "e", seq: 6 });
    last().close(1006);
    vi.advanceTimersByTime(300);
    last().greet();
    expect(last().sent).toEqual([]);
  });

  it("resumes where it was", () => {
    opened();
    last().greet();
    last().tell({ type: "delta", seq: 9, content: "a", run_id: "r" });
    last().close(1006);
    vi.advanceTimersByTime(300);
    expect(new URL(last().address).searchParams.get("after")).toBe("9");
  });
});

describe("a session that is over", () => {
  it("is reported once, and unsent messages go out after the next login", () => {
    const { socket, onLoggedOut, onFrame } = opened();
    last().greet();
    socket.send({ type: "message", id: "m", text: "Hi" });
    last().tell({ type: "error", code: "unauthenticated", message: "this session is over", seq: 0 });
    expect(onFrame).toHaveBeenCalledTimes(1); // its greeting: no notice for what the page asks about itself
    vi.advanceTimersByTime(300);
    last().close(4401);
    vi.advanceTimersByTime(600);
    last().close(4401);
    expect(onLoggedOut).toHaveBeenCalledTimes(1);
    const before = Peer.all.length;
    socket.reconnectNow();
    expect(Peer.all.length).toBe(before + 1);
    last().greet();
    expect(last().sent.map((frame) => frame.id)).toEqual(["m"]);
    vi.advanceTimersByTime(60_000);
    expect(Peer.all.length).toBe(before + 1);
  });
});

describe("one that was closed", () => {
  it("stays closed", () => {
    const { socket, onStatus } = opened();
    last().greet();
    socket.close();
    vi.advanceTimersByTime(60_000);
    socket.reconnectNow();
    expect(Peer.all).toHaveLength(1);
    expect(onStatus.mock.calls).toEqual([[true]]);
  });
});
