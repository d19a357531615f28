// The chat with an agent in one session: its transcript, its socket, and its actions.
import { useCallback, useEffect, useReducer, useRef, useState } from "react";

import { answer, api } from "../../api/client";
import type { ChatFrame } from "../../api/frames";
import type { ContentElement } from "../../api/types";
import { markSessionExpired, useSessionExpired } from "../../app/sessionExpired";
import { applyFrame, applyHistory, applyUserMessage, type ChatState, EMPTY_CHAT, type FileRef } from "./chatState";
import { history } from "./history";
import { ChatSocket } from "./socket";

export const SESSION = "default";

type Change =
  | { kind: "history"; items: ChatState["items"] }
  | { kind: "frame"; frame: ChatFrame }
  | { kind: "sent"; id: string; text: string; files: FileRef[] }
  | { kind: "reset" };

function reduce(state: ChatState, change: Change): ChatState {
  switch (change.kind) {
    case "history":
      return applyHistory(state, change.items);
    case "frame":
      return applyFrame(state, change.frame);
    case "sent":
      return applyUserMessage(state, { id: change.id, text: change.text, files: change.files });
    case "reset":
      return EMPTY_CHAT;
  }
}

export type Chat = ReturnType<typeof useChat>;

export function useChat(agentId: string, session: string = SESSION) {
  const [state, change] = useReducer(reduce, EMPTY_CHAT);
  const [connected, setConnected] = useState(true);
  const [isWhole, setWhole] = useState(true);
  const socket = useRef<ChatSocket | null>(null);
  const requestNumber = useRef(0);

  /** The number of pages that were read, so that a new read keeps what the user scrolled up to. */
  const depth = useRef(1);
  const read = useCallback(async () => {
    const ownNumber = ++requestNumber.current;
    const loaded = await history(agentId, session, depth.current).catch(() => null);
    if (!loaded || ownNumber !== requestNumber.current) return;
    change({ kind: "history", items: loaded.items });
    setWhole(loaded.isWhole);
  }, [agentId, session]);
  const loadOlder = () => {
    depth.current += 1;
    return read();
  };

  useEffect(() => {
    change({ kind: "reset" });
    depth.current = 1;
    const onFrame = (frame: ChatFrame) => {
      change({ kind: "frame", frame });
      if (frame.type === "connected" || frame.type === "run" || (frame.type === "error" && frame.in_history))
        void read();
    };
    socket.current = new ChatSocket(agentId, session, {
      onFrame,
      onStatus: setConnected,
      onLoggedOut: markSessionExpired,
    });
    return () => socket.current?.close();
  }, [agentId, session, read]);

  const expired = useSessionExpired();
  useEffect(() => {
    if (!expired) socket.current?.reconnectNow();
  }, [expired]);

  const send = (text: string, files: FileRef[]) => {
    const id = crypto.randomUUID();
    const contents = files.map((file): ContentElement => ({
      type: file.mime_type?.startsWith("image/") ? "image" : "file",
      ...file,
    }));
    change({ kind: "sent", id, text, files });
    socket.current?.send({ type: "message", id, ...(text && { text }), ...(contents.length && { contents }) });
  };
  const reset = async () => {
    await answer(
      api.POST("/api/v1/agents/{agent_id}/chat/{session}/reset", { params: { path: { agent_id: agentId, session } } }),
    );
    change({ kind: "reset" });
    await read();
  };
  return {
    state,
    connected,
    send,
    reset,
    /** Reads older messages; null if there are none. */
    loadOlder: isWhole ? null : loadOlder,
    cancel: () => socket.current?.cancel(),
    decide: (id: string, decision: "approve" | "always" | "deny") => socket.current?.decide(id, decision),
  };
}
