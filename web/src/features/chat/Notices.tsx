// Elements between messages: requests for approval, and notices of the Host.
import { ShieldQuestion, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Approval } from "../../api/types";
import { Button } from "../../components/Button";
import { State } from "../../components/Layout";
import { classes } from "../../lib/classes";
import { actionKey, alwaysOf } from "../approvals/approvalDetails";
import { Details } from "../approvals/Details";
import type { Ask, Notice as NoticeData } from "./chatState";

type Decision = "approve" | "always" | "deny";

/** `approval` is the whole record, once it was read. */
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
              {approval && alwaysOf(approval) && (
                <Button
                  small
                  title={alwaysOf(approval)}
                  busy={decided === "always"}
                  disabled={!connected || decided !== null}
                  onClick={() => choose("always")}
                >
                  {t("approvals.always")}
                </Button>
              )}
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

export function Notice({ notice }: { notice: NoticeData }) {
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
