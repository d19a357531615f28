// What stands between messages: tool calls, questions for approval, and notices.
import { Check, LoaderCircle, ShieldQuestion, TriangleAlert, Wrench } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Fold } from "../../components/Fold";
import { State } from "../../components/Surfaces";
import { classes } from "../../lib/classes";
import type { Ask, Notice as NoticeFact, ToolCall } from "./log";

export function Tools({ calls }: { calls: ToolCall[] | undefined }) {
  const { t } = useTranslation();
  if (!calls?.length) return null;
  const busy = calls.some((call) => call.status === "started" || call.status === "running");
  return (
    <Fold
      title={
        <span className="flex items-center gap-2">
          {busy ? <LoaderCircle aria-hidden className="size-4 animate-spin" /> : <Wrench aria-hidden className="size-4" />}
          {t("chat.tools", { count: calls.length })}
        </span>
      }
    >
      <ul className="ml-2 space-y-1 border-l border-line pl-4 text-sm">
        {calls.map((call) => (
          <li key={call.id} className="flex items-center gap-2">
            {call.status === "completed" && <Check aria-hidden className="size-4 text-good" />}
            <span className="font-mono">{call.name}</span>
            <State state={call.status} />
          </li>
        ))}
      </ul>
    </Fold>
  );
}

export function Asked({ ask, decide }: { ask: Ask; decide: (id: string, decision: "approve" | "deny") => void }) {
  const { t } = useTranslation();
  return (
    <section aria-label={t("chat.approval")} className="rounded-card border border-line bg-surface p-4 shadow-card">
      <div className="flex items-start gap-3">
        <ShieldQuestion aria-hidden className="mt-0.5 size-5 shrink-0 text-warn" />
        <div className="min-w-0 flex-1 space-y-2">
          <p className="font-medium">{t("chat.approval")}</p>
          <p className="text-sm break-words whitespace-pre-wrap">{ask.words}</p>
          {ask.status === "pending" ? (
            <div className="flex gap-2">
              <Button small weight="primary" onClick={() => decide(ask.approval_id, "approve")}>{t("approvals.approve")}</Button>
              <Button small onClick={() => decide(ask.approval_id, "deny")}>{t("approvals.deny")}</Button>
            </div>
          ) : (
            <State state={ask.status} />
          )}
        </div>
      </div>
    </section>
  );
}

export function Notice({ notice }: { notice: NoticeFact }) {
  const { t } = useTranslation();
  return (
    <p
      role="alert"
      className={classes(
        "flex items-start gap-2 rounded-control px-3.5 py-2.5 text-sm break-words",
        notice.tone === "bad" ? "bg-bad-wash text-bad" : "bg-raised text-quiet",
      )}
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      {notice.key ? t(notice.key) : notice.text}
    </p>
  );
}
