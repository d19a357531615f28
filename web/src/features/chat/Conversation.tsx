// The talk itself: what was said, what is being written, and the place to write. Used by the page and beside a form.
import { useQuery } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Approval, Run } from "../../api/types";
import * as queries from "../../api/queries";
import { Button } from "../../components/Button";
import { Markdown } from "../../components/Markdown";
import { classes } from "../../lib/classes";
import { Asked, Notice, Tools } from "./ToolCalls";
import { Composer } from "./Composer";
import { Lines, Thoughts } from "./MessageList";
import { type Ask, type ChatLog, lines } from "./chatState";
import { useEndInView } from "./useStickToBottom";
import type { Chat } from "./useChat";
import { useUploads } from "./useUploads";

export function Talk({
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
  const held = useUploads();
  const [over, setOver] = useState(false);
  const { log } = chat;
  const shown = useMemo(() => lines(log.items, log.later, log.thoughts), [log.items, log.later, log.thoughts]);
  const end = useEndInView(log);
  const asks = useAsks(log);
  return (
    <div
      className="relative flex h-full min-h-0 flex-col"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        held.add(event.dataTransfer.files);
      }}
    >
      <div
        ref={end.box}
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
        tabIndex={0}
        aria-label={t("chat.messages")}
        role="log"
      >
        <div className={classes("mx-auto space-y-5 px-4 py-6", !narrow && "max-w-3xl sm:px-6")}>
          {chat.older && (
            <div className="text-center">
              <Button small weight="quiet" onClick={() => void chat.older?.()}>
                {t("chat.older")}
              </Button>
            </div>
          )}
          {shown.length === 0 && !log.running && <p className="py-12 text-center text-quiet">{t("chat.empty")}</p>}
          <Lines lines={shown} runs={useRunsOver(log.conversationId)} tools={log.tools} />
          {log.running && <Tools calls={log.tools[log.running]} />}
          {asks.map(({ ask, approval }) => (
            <Asked
              key={`${ask.approval_id} ${log.notices.length}`}
              ask={ask}
              approval={approval}
              connected={chat.connected}
              decide={chat.decide}
            />
          ))}
          {log.pondering && <Thoughts text={log.pondering} busy={!log.writing} />}
          {log.writing && <Writing text={log.writing} />}
          {log.running && !log.writing && <AtWork />}
          {log.notices.map((notice) => (
            <Notice key={`${notice.seq} ${notice.key ?? notice.text}`} notice={notice} />
          ))}
        </div>
      </div>
      {end.away && (
        <div className="pointer-events-none relative">
          <Button
            small
            aria-label={t("chat.toEnd")}
            title={t("chat.toEnd")}
            onClick={end.go}
            className="pointer-events-auto absolute bottom-2 left-1/2 -translate-x-1/2 rounded-full px-2! shadow-card"
          >
            <ArrowDown className="size-4" />
          </Button>
        </div>
      )}
      <Composer name={`${agentId}.${session ?? ""}`} chat={chat} held={held} narrow={narrow} />
      {over && (
        <div className="pointer-events-none absolute inset-3 grid place-items-center rounded-card border-2 border-dashed border-accent bg-accent-wash/90 font-medium text-accent">
          {t("chat.drop")}
        </div>
      )}
    </div>
  );
}

function useRunsOver(conversationId: string | null): Map<string, Run> {
  const runs = useQuery({
    ...queries.newestRuns({ conversation_id: conversationId ?? "" }),
    enabled: conversationId !== null,
  }).data;
  return useMemo(
    () => new Map((runs?.items ?? []).filter((run) => run.finished_at !== null).map((run) => [run.run_id, run])),
    [runs],
  );
}

/** Those that came over the socket, and those that wait since before the page was opened. */
function useAsks(log: ChatLog): { ask: Ask; approval?: Approval }[] {
  const waiting = (useQuery(queries.approvals).data ?? []).filter(
    (each) => each.conversation_id === log.conversationId,
  );
  const told = log.asks.map((ask) => ({ ask, approval: waiting.find((each) => each.approval_id === ask.approval_id) }));
  const known = new Set(log.asks.map((ask) => ask.approval_id));
  return [
    ...waiting.filter((each) => !known.has(each.approval_id)).map((approval) => ({ ask: approval, approval })),
    ...told,
  ];
}

/** What is being written is parsed again with every fragment: what is typed or scrolled meanwhile goes first. */
function Writing({ text }: { text: string }) {
  const { t } = useTranslation();
  const later = useDeferredValue(text);
  return (
    <article aria-label={t("chat.agent")} aria-busy className="is-writing">
      <Markdown text={later} />
    </article>
  );
}

function AtWork() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("chat.thinking")} className="flex gap-1 py-2">
      {["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
        <span key={delay} className={`size-2 animate-pulse rounded-full bg-accent ${delay}`} />
      ))}
    </div>
  );
}
