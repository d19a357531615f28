// What stands between messages: tool calls, questions for approval, and notices.
import { Check, LoaderCircle, ShieldQuestion, TriangleAlert, Wrench } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Approval } from "../../api/types";
import { Button } from "../../components/Button";
import { Collapsible } from "../../components/Collapsible";
import { State } from "../../components/Layout";
import { classes } from "../../lib/classes";
import { actionKey } from "../approvals/approvalDetails";
import { Details } from "../approvals/Details";
import type { Ask, Notice as NoticeFact, ToolCall } from "./chatState";

export function ToolCalls({ calls }: { calls: ToolCall[] | undefined }) {
  const { t } = useTranslation();
  if (!calls?.length) return null;
  const busy = calls.some((call) => call.status === "started" || call.status === "running");
  return (
    <Collapsible
      title={
        <span className="flex items-center gap-2">
          {busy ? (
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
          ) : (
            <Wrench aria-hidden className="size-4" />
          )}
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
    </Collapsible>
  );
}

type Decision = "approve" | "deny";

/** `approval` is the whole of it, as soon as it was read. */
export function ApprovalPrompt({
  ask,
  approval,
  connected,
  decide,
}: {
  ask: Ask;
  approval?: Approval;
  connected: boolean;
  decide: (id: string, decision: Decision) => void;
}) {
  const { t, i18n } = useTranslation();
  const action = actionKey(ask.action);
  const [decided, setDecided] = useState<Decision | null>(null);
  const choose = (decision: Decision) => {
    setDecided(decision);
    decide(ask.approval_id, decision);
  };
  return (
    <section aria-label={t("chat.approval")} className="rounded-card border border-line bg-surface p-4 shadow-card">
      <div className="flex items-start gap-3">
        <ShieldQuestion aria-hidden className="mt-0.5 size-5 shrink-0 text-warn" />
        <div className="min-w-0 flex-1 space-y-2">
          <p className="font-medium">
            {t("chat.approval")} {i18n.exists(action) && <span className="font-normal text-quiet">{t(action)}</span>}
          </p>
          {approval ? (
            <Details approval={approval} />
          ) : (
            <p className="text-sm break-words whitespace-pre-wrap">{ask.words}</p>
          )}
          {ask.status === "pending" ? (
            <div className="flex gap-2">
              <Button
                small
                weight="primary"
                busy={decided === "approve"}
                disabled={!connected || decided !== null}
                onClick={() => choose("approve")}
              >
                {t("approvals.approve")}
              </Button>
              <Button
                small
                busy={decided === "deny"}
                disabled={!connected || decided !== null}
                onClick={() => choose("deny")}
              >
                {t("approvals.deny")}
              </Button>
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
