// The live channel: tells which of the page's readings are stale. It comes back by itself and then reads everything again.
import type { QueryClient } from "@tanstack/react-query";

import { socketAddress } from "./client";

type Frame = { type: string; kind?: string; what?: string };

const STALE: Record<string, string[]> = {
  event: ["events", "stats"],
  run: ["runs", "stats"],
  delivery: ["runs"],
  denial: ["runs"],
  plugin: ["plugins", "runners", "tools"],
  bot: ["bots"],
};
const TABLES: Record<string, string[]> = {
  agents: ["agents"],
  bots: ["bots"],
  routes: ["routes"],
  models: ["models", "agents"],
  model_providers: ["providers"],
  mcp_servers: ["mcp", "tools"],
  budgets: ["budgets"],
};
const GATHER = 400;
const LONGEST = 15_000;

export function staleKeys(frame: Frame): string[] | "everything" {
  if (frame.type === "missed") return "everything";
  if (frame.type === "configuration") return TABLES[frame.what ?? ""] ?? [];
  const keys = STALE[frame.type] ?? [];
  return frame.kind === "approval" ? [...keys, "approvals"] : keys;
}

/** Follows until it is told to stop; `tell` hears whether the Host is reached. */
export function follow(client: QueryClient, tell: (connected: boolean) => void): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let wait = 500;
  let lost = false;
  const stale = new Set<string>();

  const refresh = () => {
    gathering = undefined;
    for (const key of stale) void client.invalidateQueries({ queryKey: [key] });
    stale.clear();
  };
  const hear = (frame: Frame) => {
    const keys = staleKeys(frame);
    if (keys === "everything") return void client.invalidateQueries();
    for (const key of keys) stale.add(key);
    if (stale.size) gathering ??= setTimeout(refresh, GATHER);
  };
  const open = () => {
    socket = new WebSocket(socketAddress("/api/v1/live", {}));
    socket.onmessage = (message) => {
      const frame = JSON.parse(String(message.data)) as Frame;
      if (frame.type === "connected") {
        wait = 500;
        tell(true);
        if (lost) void client.invalidateQueries();
        lost = false;
      } else hear(frame);
    };
    socket.onclose = (event) => {
      lost = true;
      tell(false);
      if (event.code === 4401) void client.invalidateQueries({ queryKey: ["me"] });
      timer = setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    clearTimeout(gathering);
    if (socket) socket.onclose = null;
    socket?.close();
  };
}
