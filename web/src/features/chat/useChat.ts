// A chat with one agent in one of its sessions: its history, its socket, and what can be done in it.
import { useCallback, useEffect, useReducer, useRef, useState } from "react";

import { answer, api } from "../../api/client";
import type { ChatFrame } from "../../api/frames";
import type { ContentElement } from "../../api/types";
import { markSessionOver, useSessionOver } from "../../app/sessionExpired";
import { type ChatLog, EMPTY, type FileRef, withFrame, withHistory, withOwn } from "./chatState";
import { history } from "./history";
import { ChatSocket } from "./socket";

export const SESSION = "default";

type Change =
  | { kind: "history"; items: ChatLog["items"] }
  | { kind: "frame"; frame: ChatFrame }
  | { kind: "said"; id: string; text: string; files: FileRef[] }
  | { kind: "anew" };

function reduce(log: ChatLog, change: Change): ChatLog {
  switch (change.kind) {
    case "history":
      return withHistory(log, change.items);
    case "frame":
      return withFrame(log, change.frame);
    case "said":
      return withOwn(log, { id: change.id, text: change.text, files: change.files });
    case "anew":
      return EMPTY;
  }
}

export type Chat = ReturnType<typeof useChat>;

export function useChat(agentId: string, session: string = SESSION) {
  const [log, change] = useReducer(reduce, EMPTY);
  const [connected, setConnected] = useState(true);
  const [isWhole, setWhole] = useState(true);
  const socket = useRef<ChatSocket | null>(null);
  const reading = useRef(0);

  /** As far back as was read before, so that what somebody scrolled up to stays. */
  const depth = useRef(1);
  const read = useCallback(async () => {
    const mine = ++reading.current;
    const found = await history(agentId, session, depth.current).catch(() => null);
    if (!found || mine !== reading.current) return;
    change({ kind: "history", items: found.items });
    setWhole(found.isWhole);
  }, [agentId, session]);
  const older = () => {
    depth.current += 1;
    return read();
  };

  useEffect(() => {
    change({ kind: "anew" });
    depth.current = 1;
    const hear = (frame: ChatFrame) => {
      change({ kind: "frame", frame });
      if (frame.type === "connected" || frame.type === "run" || (frame.type === "error" && frame.in_history))
        void read();
    };
    socket.current = new ChatSocket(agentId, session, { hear, tell: setConnected, loggedOut: markSessionOver });
    return () => socket.current?.close();
  }, [agentId, session, read]);

  const over = useSessionOver();
  useEffect(() => {
    if (!over) socket.current?.hurry();
  }, [over]);

  const say = (text: string, files: FileRef[]) => {
    const id = crypto.randomUUID();
    const contents = files.map((file): ContentElement => ({
      type: file.mime_type?.startsWith("image/") ? "image" : "file",
      ...file,
    }));
    change({ kind: "said", id, text, files });
    socket.current?.say({ type: "message", id, ...(text && { text }), ...(contents.length && { contents }) });
  };
  const anew = async () => {
    await answer(
      api.POST("/api/v1/agents/{agent_id}/chat/{session}/reset", { params: { path: { agent_id: agentId, session } } }),
    );
    change({ kind: "anew" });
    await read();
  };
  return {
    log,
    connected,
    say,
    anew,
    /** Reads what was said before, if there is more. */
    older: isWhole ? null : older,
    cancel: () => socket.current?.cancel(),
    decide: (id: string, decision: "approve" | "deny") => socket.current?.decide(id, decision),
  };
}
