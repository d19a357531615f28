// A conversation: messages, the current draft, and the input. Used by the chat page and beside the form of an agent.
import { useQuery } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Approval, Run } from "../../api/types";
import { Button } from "../../components/Button";
import { Markdown } from "../../components/Markdown";
import { classes } from "../../lib/classes";
import * as approvalQueries from "../approvals/queries";
import * as runQueries from "../runs/queries";
import { type Ask, type ChatState, lines } from "./chatState";
import { Composer } from "./Composer";
import { MessageList, Reasoning } from "./MessageList";
import { ApprovalPrompt, Notice } from "./Notices";
import { Suggestions } from "./Suggestions";
import { ToolCalls } from "./ToolCalls";
import type { Chat } from "./useChat";
import { useStickToBottom } from "./useStickToBottom";
import { useUploads } from "./useUploads";

export function Conversation({
  agentId,
  session,
  chat,
  narrow,
}: {
  agentId: string;
  session?: string;
  chat: Chat;
  narrow?: boolean;
}) {
  const { t } = useTranslation();
  const uploads = useUploads();
  const [dragging, setDragging] = useState(false);
  const { state } = chat;
  const visible = useMemo(
    () => lines(state.items, state.pending, state.thoughts),
    [state.items, state.pending, state.thoughts],
  );
  const bottom = useStickToBottom(state);
  const asks = useAsks(state);
  return (
    <div
      className="relative flex h-full min-h-0 flex-col"
      onDragOver={(event) => {
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDragging(false);
        uploads.add(event.dataTransfer.files);
      }}
    >
      <div
        ref={bottom.box}
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
        tabIndex={0}
        aria-label={t("chat.messages")}
        role="log"
      >
        <div className={classes("mx-auto space-y-5 px-4 py-6", !narrow && "max-w-3xl sm:px-6")}>
          {chat.loadOlder && (
            <div className="text-center">
              <Button small weight="quiet" onClick={() => void chat.loadOlder?.()}>
                {t("chat.older")}
              </Button>
            </div>
          )}
          {visible.length === 0 && !state.running && <p className="py-12 text-center text-quiet">{t("chat.empty")}</p>}
          <MessageList lines={visible} runs={useFinishedRuns(state.conversationId)} tools={state.tools} />
          {state.running && <ToolCalls calls={state.tools[state.running]} />}
          {asks.map(({ ask, approval }) => (
            <ApprovalPrompt
              key={`${ask.approval_id} ${state.notices.length}`}
              ask={ask}
              approval={approval}
              connected={chat.connected}
              decide={chat.decide}
            />
          ))}
          <Suggestions state={state} onChoose={(text) => chat.send(text, [])} />
          {state.reasoning && <Reasoning text={state.reasoning} busy={!state.draft} />}
          {state.draft && <DraftMessage text={state.draft} />}
          {state.running && !state.draft && <TypingIndicator />}
          {state.notices.map((notice) => (
            <Notice key={`${notice.seq} ${notice.key ?? notice.text}`} notice={notice} />
          ))}
        </div>
      </div>
      {bottom.away && (
        <div className="pointer-events-none relative">
          <Button
            small
            aria-label={t("chat.toEnd")}
            title={t("chat.toEnd")}
            onClick={bottom.go}
            className="pointer-events-auto absolute bottom-2 left-1/2 -translate-x-1/2 rounded-full px-2! shadow-card"
          >
            <ArrowDown className="size-4" />
          </Button>
        </div>
      )}
      <Composer name={`${agentId}.${session ?? ""}`} chat={chat} held={uploads} narrow={narrow} />
      {dragging && (
        <div className="pointer-events-none absolute inset-3 grid place-items-center rounded-card border-2 border-dashed border-accent bg-accent-wash/90 font-medium text-accent">
          {t("chat.drop")}
        </div>
      )}
    </div>
  );
}

function useFinishedRuns(conversationId: string | null): Map<string, Run> {
  const runs = useQuery({
    ...runQueries.newestRuns({ conversation_id: conversationId ?? "" }),
    enabled: conversationId !== null,
  }).data;
  return useMemo(
    () => new Map((runs?.items ?? []).filter((run) => run.finished_at !== null).map((run) => [run.run_id, run])),
    [runs],
  );
}

/** Returns the approvals that came over the socket, and those that were pending before. */
function useAsks(state: ChatState): { ask: Ask; approval?: Approval }[] {
  const pending = (useQuery(approvalQueries.approvals).data ?? []).filter(
    (each) => each.conversation_id === state.conversationId,
  );
  const received = state.asks.map((ask) => ({
    ask,
    approval: pending.find((each) => each.approval_id === ask.approval_id),
  }));
  const shownIds = new Set(state.asks.map((ask) => ask.approval_id));
  return [
    ...pending.filter((each) => !shownIds.has(each.approval_id)).map((approval) => ({ ask: approval, approval })),
    ...received,
  ];
}

/** The current draft. It is parsed again with every fragment, at a lower priority than typing and scrolling. */
function DraftMessage({ text }: { text: string }) {
  const { t } = useTranslation();
  const deferred = useDeferredValue(text);
  return (
    <article aria-label={t("chat.agent")} aria-busy className="is-writing">
      <Markdown text={deferred} />
    </article>
  );
}

function TypingIndicator() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("chat.thinking")} className="flex gap-1 py-2">
      {["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
        <span key={delay} className={`size-2 animate-pulse rounded-full bg-accent ${delay}`} />
      ))}
    </div>
  );
}
