// The talk itself: what was said, what is being written, and the place to write. Used by the page and beside a form.
import { useEffect, useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { Markdown } from "../../components/Markdown";
import { classes } from "../../lib/classes";
import { Asked, Notice, Tools } from "./Asides";
import { Composer } from "./Composer";
import type { ChatLog } from "./log";
import type { useChat } from "./useChat";

export function Talk({ agentId, chat, narrow }: { agentId: string; chat: ReturnType<typeof useChat>; narrow?: boolean }) {
  const { t } = useTranslation();
  const { log } = chat;
  const end = useEndInView(log);
  const empty = log.items.length + log.own.length + log.fresh.length === 0;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div ref={end} className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} aria-label={t("chat.messages")} role="log">
        <div className={classes("mx-auto space-y-5 px-4 py-6", !narrow && "max-w-3xl sm:px-6")}>
          {empty && <p className="py-12 text-center text-quiet">{t("chat.empty")}</p>}
          {log.items.map((item) => (
            <div key={item.transcript_id} className="space-y-3">
              {item.role === "assistant" && item.run_id && <Tools calls={log.tools[item.run_id]} />}
              <Said role={item.role} text={item.content} />
            </div>
          ))}
          {log.own.map((own) => (
            <Said key={own.id} role="user" text={own.text || own.attachments.join(", ")} faint={!own.eventId} />
          ))}
          {log.fresh.map((fresh) => <Said key={fresh.seq} role="assistant" text={fresh.content} />)}
          {log.running && <Tools calls={log.tools[log.running]} />}
          {log.asks.map((ask) => <Asked key={ask.approval_id} ask={ask} decide={chat.decide} />)}
          {log.writing && <Said role="assistant" text={log.writing} />}
          {log.running && !log.writing && <Thinking />}
          {log.notices.map((notice) => <Notice key={`${notice.seq} ${notice.key ?? notice.text}`} notice={notice} />)}
        </div>
      </div>
      <Composer agentId={agentId} chat={chat} narrow={narrow} />
    </div>
  );
}

/** Stays at the end while somebody reads there, and leaves alone whoever scrolled up. */
function useEndInView(log: ChatLog) {
  const ref = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const box = ref.current;
    const look = () => {
      if (box) atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 80;
    };
    box?.addEventListener("scroll", look, { passive: true });
    return () => box?.removeEventListener("scroll", look);
  }, []);
  useLayoutEffect(() => {
    if (atEnd.current && ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [log]);
  return ref;
}

function Said({ role, text, faint }: { role: string; text: string; faint?: boolean }) {
  const { t } = useTranslation();
  if (role !== "user") {
    return (
      <article aria-label={t("chat.agent")}>
        <Markdown text={text} />
      </article>
    );
  }
  return (
    <article
      aria-label={t("chat.you")}
      className={classes("ml-auto w-fit max-w-[85%] rounded-2xl rounded-br-md bg-accent-wash px-4 py-2.5 break-words whitespace-pre-wrap", faint && "text-quiet")}
    >
      {text}
    </article>
  );
}

function Thinking() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("chat.thinking")} className="flex gap-1 py-2">
      {["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
        <span key={delay} className={`size-2 animate-pulse rounded-full bg-accent ${delay}`} />
      ))}
    </div>
  );
}
