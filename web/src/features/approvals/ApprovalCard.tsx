// One action that waits for approval, or its outcome.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Approval } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Input } from "../../components/Field";
import { State } from "../../components/Layout";
import { formatTime, fromNow } from "../../lib/format";
import { useSave } from "../../lib/useSave";
import * as agentQueries from "../agents/queries";
import * as botQueries from "../bots/queries";
import { actionKey, alwaysOf, isPending } from "./approvalDetails";
import { Details } from "./Details";
import { useParty } from "./useParty";

export type Decided = "approve" | "always" | "deny";

/** `linked`: it leads to its run, unless it is shown there. */
export function ApprovalCard({ approval, linked = true }: { approval: Approval; linked?: boolean }) {
  const { t, i18n } = useTranslation();
  const { operate } = useRights();
  const key = actionKey(approval.action);
  return (
    <li className="overflow-hidden rounded-card border border-line bg-surface shadow-card">
      <div className="p-5">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="font-semibold">{i18n.exists(key) ? t(key) : approval.action}</h3>
          <State state={approval.status} />
          {isPending(approval) && (
            <span className="text-sm text-quiet">
              {t("approvals.expires", { when: fromNow(approval.expires_at, Date.now(), i18n.language) })}
            </span>
          )}
          {linked && (
            <Link
              to="/runs/$runId"
              params={{ runId: approval.run_id }}
              className="ml-auto text-sm text-accent underline underline-offset-2"
            >
              {t("chat.openRun")}
            </Link>
          )}
        </div>
        <Origin approval={approval} />
        <Details approval={approval} />
        <Outcome approval={approval} />
      </div>
      {isPending(approval) && operate && <Decision approval={approval} />}
    </li>
  );
}

function Origin({ approval }: { approval: Approval }) {
  const { t, i18n } = useTranslation();
  const agent = useQuery(agentQueries.agents).data?.find((each) => each.agent_id === approval.agent_id);
  const bot = useQuery(botQueries.bots).data?.find((each) => each.bot_id === approval.call.bot_id);
  const { occasion } = approval;
  const requester = useParty(approval.requester, occasion?.actor_name);
  const parts = [
    agent?.name,
    bot?.name ?? t("runs.direct"),
    occasion?.group_name,
    t("approvals.requester", { who: requester }),
    formatTime(approval.created_at, i18n.language),
  ];
  return (
    <>
      <p className="mt-1 text-sm wrap-anywhere text-quiet tabular-nums">{parts.filter(Boolean).join(" · ")}</p>
      {occasion?.comment && (
        <blockquote className="mt-2 border-l-2 border-line pl-3 text-sm wrap-anywhere">{occasion.comment}</blockquote>
      )}
    </>
  );
}

function Outcome({ approval }: { approval: Approval }) {
  const { t, i18n } = useTranslation();
  const decider = useParty(approval.decided_by ?? "");
  if (isPending(approval) || !approval.decided_by) return null;
  const outcome = approval.outcome as { state?: string; reason?: string } | null;
  return (
    <div className="mt-3 space-y-1 text-sm">
      <p className="text-quiet">
        {t("approvals.by", { who: decider, when: formatTime(approval.decided_at, i18n.language) })}
      </p>
      {approval.reason && <blockquote className="border-l-2 border-line pl-3">{approval.reason}</blockquote>}
      {outcome?.state && (
        <p className="flex flex-wrap items-center gap-2">
          {t("approvals.outcome")} <State state={outcome.state} />{" "}
          {outcome.reason && <span className="text-bad">{outcome.reason}</span>}
        </p>
      )}
    </div>
  );
}

function Decision({ approval }: { approval: Approval }) {
  const { t } = useTranslation();
  const [reason, setReason] = useState("");
  const deciding = useSave(
    (decision: Decided) =>
      answer(
        api.POST("/api/v1/approvals/{approval_id}", {
          params: { path: { approval_id: approval.approval_id } },
          body: { decision, reason },
        }),
      ),
    ["approvals"],
  );
  return (
    <div className="space-y-3 border-t border-line bg-raised/40 px-5 py-3.5">
      <div className="flex flex-wrap gap-2">
        <Input
          aria-label={t("approvals.reason")}
          placeholder={t("approvals.reason")}
          maxLength={1000}
          className="min-w-40 flex-1 max-sm:basis-full sm:w-auto"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <Button weight="primary" busy={deciding.isPending} onClick={() => deciding.mutate("approve")}>
          {t("approvals.approve")}
        </Button>
        {alwaysOf(approval) && (
          <Button busy={deciding.isPending} title={alwaysOf(approval)} onClick={() => deciding.mutate("always")}>
            {t("approvals.always")}
          </Button>
        )}
        <Button weight="danger" busy={deciding.isPending} onClick={() => deciding.mutate("deny")}>
          {t("approvals.deny")}
        </Button>
      </div>
      {alwaysOf(approval) && (
        <p className="text-sm text-quiet">{t("approvals.alwaysCovers", { what: alwaysOf(approval) })}</p>
      )}
      <ErrorMessage error={deciding.error} />
    </div>
  );
}
