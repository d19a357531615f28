// Actions that need approval: those that wait, and those that were decided.
import { useInfiniteQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { Approval } from "../../api/types";
import { Button } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { PageBody } from "../../components/Layout";
import { ApprovalCard } from "./ApprovalCard";
import { isPending } from "./approvalDetails";
import * as approvalQueries from "./queries";

export default function ApprovalsPage() {
  const { t } = useTranslation();
  const pending = useInfiniteQuery(approvalQueries.approvalPages("pending"));
  const history = useInfiniteQuery(approvalQueries.approvalPages());
  const pendingItems = pending.data?.pages.flatMap((page) => page.items) ?? [];
  const decided = (history.data?.pages.flatMap((page) => page.items) ?? []).filter((each) => !isPending(each));
  const ready = pending.data && history.data;
  return (
    <PageBody title={t("nav.approvals")} text={t("approvals.text")}>
      <ErrorMessage error={pending.error ?? history.error} />
      {!ready && !pending.error && !history.error && <Loading />}
      {ready && pendingItems.length + decided.length === 0 && (
        <Empty icon={<ShieldCheck />} title={t("approvals.empty")} text={t("approvals.emptyText")} />
      )}
      <div className="space-y-8">
        {ready && (pendingItems.length > 0 || decided.length > 0) && (
          <Part
            title={t("approvals.waiting")}
            approvals={pendingItems}
            more={pending.hasNextPage && <More query={pending} />}
          >
            <p className="text-sm text-quiet">{t("approvals.noneWaiting")}</p>
          </Part>
        )}
        {decided.length > 0 && (
          <Part
            title={t("approvals.decided")}
            approvals={decided}
            more={history.hasNextPage && <More query={history} />}
          />
        )}
      </div>
    </PageBody>
  );
}

function Part({
  title,
  approvals,
  more,
  children,
}: {
  title: string;
  approvals: Approval[];
  more: ReactNode;
  children?: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <h2 className="mb-3 text-sm font-medium text-quiet">{title}</h2>
      {approvals.length === 0 && children}
      <ul className="space-y-4">
        {approvals.map((approval) => (
          <ApprovalCard key={approval.approval_id} approval={approval} />
        ))}
      </ul>
      {more}
    </section>
  );
}

function More({ query }: { query: { isFetchingNextPage: boolean; fetchNextPage: () => unknown } }) {
  const { t } = useTranslation();
  return (
    <Button className="mt-4" busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
      {t("approvals.more")}
    </Button>
  );
}
