// The live channel: marks the queries as stale that a change on the Host affects. It reconnects and resumes by itself;
// when frames were lost, all queries are read again.
import type { QueryClient } from "@tanstack/react-query";

import { socketAddress } from "./client";
import type { LiveFrame } from "./frames";

type Key = string[];

const TABLES: Record<string, Key[]> = {
  agents: [["agents"]],
  bots: [["bots"]],
  routes: [["routes"]],
  default_agents: [["defaultAgents"]],
  models: [["models"], ["agents"]],
  model_providers: [["providers"]],
  mcp_servers: [["mcp"], ["tools"]],
  budgets: [["budgets"]],
  knowledge_bases: [["knowledge"]],
  knowledge_files: [["knowledge"]],
  memories: [["memories"]],
  pipelines: [["pipelines"]],
  skills: [["skills"]],
  word_lists: [["word-lists"], ["message-policies"]],
  settings: [["settings"]],
};
const GATHER = 400;
const SHORTEST = 500;
const LONGEST = 5_000;
const LOGGED_OUT = 4401;

const runKeys = (id: string | undefined): Key => ["runs", "one", ...(id ? [id] : [])];

export function staleKeys(frame: LiveFrame): Key[] | "everything" {
  switch (frame.type) {
    case "missed":
      return "everything";
    case "configuration":
      return TABLES[frame.what] ?? [];
    case "event":
      return [["events"], ["stats"], ["chatSessions"]];
    case "run":
      // only the head of the list is read again: pages further down stay until they are opened again
      return [["runs", "head"], runKeys(frame.id), ["stats"]];
    case "delivery":
      return [runKeys(frame.run_id)];
    case "denial":
      return [runKeys(frame.id)];
    case "approval":
      // the run that asked shows the decision too, and the frame does not name that run
      return [["approvals"], ["runs", "one"]];
    case "job":
      // a frame does not name the kind of its job; only the files of a base show theirs
      return [["knowledge"]];
    case "plugin":
      return [["plugins"], ["runners"], ["tools"]];
    case "bot":
      return [["bots"]];
    case "mcp_server":
      return [["mcp"], ["tools"]];
    default:
      return [];
  }
}

/** Collects stale keys for a moment, so that a busy Host does not cause the same request many times. */
class StaleQueries {
  private readonly keys = new Map<string, Key>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly client: QueryClient) {}

  add(frame: LiveFrame): void {
    const keys = staleKeys(frame);
    if (keys === "everything") return void this.client.invalidateQueries();
    for (const key of keys) this.keys.set(key.join(" "), key);
    if (this.keys.size) this.timer ??= setTimeout(() => this.refresh(), GATHER);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private refresh(): void {
    this.timer = undefined;
    for (const queryKey of this.keys.values()) void this.client.invalidateQueries({ queryKey });
    this.keys.clear();
  }
}

class LiveChannel {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = SHORTEST;
  /** The number of the last frame; a new socket resumes after it. */
  private lastSeq: number | undefined;

  constructor(
    private readonly stale: StaleQueries,
    private readonly onStatus: (connected: boolean) => void,
    private readonly onLoggedOut: () => void,
  ) {
    this.open();
  }

  close(): void {
    clearTimeout(this.timer);
    this.stale.stop();
    if (this.socket) this.socket.onclose = null;
    this.socket?.close();
  }

  private open(): void {
    const after: Record<string, string> = this.lastSeq === undefined ? {} : { after: String(this.lastSeq) };
    this.socket = new WebSocket(socketAddress("/api/v1/live", after));
    this.socket.onmessage = (message) => this.onMessage(JSON.parse(message.data));
    this.socket.onclose = (event) => this.onClose(event.code);
  }

  private onMessage(frame: LiveFrame): void {
    if (frame.type === "connected") {
      this.wait = SHORTEST;
      this.onStatus(true);
      // queries that ran before the channel was open may be stale by now
      if (this.lastSeq === undefined) this.stale.add({ type: "missed", seq: frame.seq });
      // missed frames follow this one and have lower numbers
      this.lastSeq ??= frame.seq;
      return;
    }
    // frames about the current state repeat what was just read
    const isNew = this.lastSeq === undefined || frame.seq > this.lastSeq || frame.type === "missed";
    if (isNew) this.stale.add(frame);
    this.lastSeq = Math.max(this.lastSeq ?? 0, frame.seq);
  }

  private onClose(code: number): void {
    this.onStatus(false);
    if (code === LOGGED_OUT) this.onLoggedOut();
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST);
  }
}

/** Follows the channel until the returned function is called; `onStatus` receives whether the Host is reachable. */
export function follow(client: QueryClient, onStatus: (connected: boolean) => void): () => void {
  const onLoggedOut = () => void client.invalidateQueries({ queryKey: ["me"] });
  const channel = new LiveChannel(new StaleQueries(client), onStatus, onLoggedOut);
  return () => channel.close();
}
