// What agents may do only when somebody says so: waiting first, then decided.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Approval } from "../../api/facts";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Input } from "../../components/Field";
import { Empty, ErrorNote, Loading } from "../../components/Notes";
import { PageBody, State } from "../../components/Surfaces";
import { moment, short } from "../../lib/text";
import { useSave } from "../../lib/useSave";

export default function ApprovalsPage() {
  const { t } = useTranslation();
  const approvals = useQuery(queries.approvals);
  const sorted = [...(approvals.data ?? [])].sort((a, b) => Number(b.status === "pending") - Number(a.status === "pending"));
  return (
    <PageBody title={t("nav.approvals")} text={t("approvals.text")}>
      <ErrorNote error={approvals.error} />
      {approvals.isPending && <Loading />}
      {approvals.data?.length === 0 && <Empty icon={<ShieldCheck />} title={t("approvals.empty")} text={t("approvals.emptyText")} />}
      <ul className="space-y-4">{sorted.map((approval) => <Item key={approval.approval_id} approval={approval} />)}</ul>
    </PageBody>
  );
}

function Item({ approval }: { approval: Approval }) {
  const { t, i18n } = useTranslation();
  const { operate } = useRights();
  const [reason, setReason] = useState("");
  const deciding = useSave(
    (decision: "approve" | "deny") =>
      answer(api.POST("/api/v1/approvals/{approval_id}", { params: { path: { approval_id: approval.approval_id } }, body: { decision, reason } })),
    ["approvals"],
  );
  return (
    <li className="rounded-card border border-line bg-surface p-5 shadow-card">
      <div className="flex flex-wrap items-center gap-3">
        <State state={approval.status} />
        <span className="font-mono text-sm">{approval.action}</span>
        <span className="flex-1" />
        <Link to="/runs/$runId" params={{ runId: approval.run_id }} className="text-sm text-accent underline">{t("approvals.run", { run: short(approval.run_id) })}</Link>
        <time className="text-sm text-quiet">{moment(approval.created_at, i18n.language)}</time>
      </div>
      <p className="mt-3 break-words whitespace-pre-wrap">{approval.words}</p>
      {approval.decided_by && <p className="mt-2 text-sm text-quiet">{t("approvals.by", { who: approval.decided_by, reason: approval.reason ?? "" })}</p>}
      {approval.status === "pending" && operate && (
        <div className="mt-4 space-y-3">
          <div className="flex flex-wrap gap-2">
            <Input aria-label={t("approvals.reason")} placeholder={t("approvals.reason")} className="max-w-sm" value={reason} onChange={(event) => setReason(event.target.value)} />
            <Button weight="primary" busy={deciding.isPending} onClick={() => deciding.mutate("approve")}>{t("approvals.approve")}</Button>
            <Button weight="danger" busy={deciding.isPending} onClick={() => deciding.mutate("deny")}>{t("approvals.deny")}</Button>
          </div>
          <ErrorNote error={deciding.error} />
        </div>
      )}
    </li>
  );
}
