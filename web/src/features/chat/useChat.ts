// A chat with one agent: its history, its socket, and what can be done in it.
import { useCallback, useEffect, useReducer, useRef, useState } from "react";

import { answer, api } from "../../api/client";
import type { Page } from "../../api/facts";
import { type ChatLog, EMPTY, type Frame, withFrame, withHistory } from "./log";
import { ChatSocket } from "./socket";

export const SESSION = "default";

export type Attachment = { artifact_id: string; name: string; mime_type: string | null; size_bytes: number | null };
type Change =
  | { kind: "history"; items: ChatLog["items"] }
  | { kind: "frame"; frame: Frame }
  | { kind: "said"; id: string; text: string; attachments: string[] }
  | { kind: "anew" };

function reduce(log: ChatLog, change: Change): ChatLog {
  switch (change.kind) {
    case "history":
      return withHistory(log, change.items);
    case "frame":
      return withFrame(log, change.frame);
    case "said":
      return { ...log, notices: [], own: [...log.own, { id: change.id, text: change.text, attachments: change.attachments }] };
    case "anew":
      return EMPTY;
  }
}

async function history(agent_id: string): Promise<ChatLog["items"]> {
  const items: ChatLog["items"] = [];
  let cursor: string | null = null;
  do {
    const page: Page<ChatLog["items"][number]> = await answer(
      api.GET("/api/v1/agents/{agent_id}/chat/{session}/messages", {
        params: { path: { agent_id, session: SESSION }, query: { limit: 100, cursor } },
      }),
    );
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

export function useChat(agentId: string) {
  const [log, change] = useReducer(reduce, EMPTY);
  const [connected, setConnected] = useState(true);
  const socket = useRef<ChatSocket | null>(null);
  const reading = useRef(0);

  const read = useCallback(async () => {
    const mine = ++reading.current;
    const items = await history(agentId).catch(() => null);
    if (items && mine === reading.current) change({ kind: "history", items });
  }, [agentId]);

  useEffect(() => {
    change({ kind: "anew" });
    const hear = (frame: Frame) => {
      change({ kind: "frame", frame });
      // the words of other tabs come only with the history
      if (frame.type === "connected" || frame.type === "run") void read();
    };
    socket.current = new ChatSocket(agentId, SESSION, hear, setConnected);
    return () => socket.current?.close();
  }, [agentId, read]);

  const say = (text: string, attachments: Attachment[]) => {
    const id = crypto.randomUUID();
    const contents = attachments.map((file) => ({ type: file.mime_type?.startsWith("image/") ? "image" : "file", ...file }));
    change({ kind: "said", id, text, attachments: attachments.map((file) => file.name) });
    socket.current?.say({ type: "message", id, ...(text && { text }), ...(contents.length && { contents }) });
  };
  const anew = async () => {
    await answer(
      api.POST("/api/v1/agents/{agent_id}/chat/{session}/reset", { params: { path: { agent_id: agentId, session: SESSION } } }),
    );
    change({ kind: "anew" });
    await read();
  };
  return {
    log,
    connected,
    say,
    anew,
    cancel: () => socket.current?.cancel(),
    decide: (id: string, decision: "approve" | "deny") => socket.current?.decide(id, decision),
  };
}
