// The questions of a run that wait for a decision, to be decided beside what the run does.
import { useQuery } from "@tanstack/react-query";

import * as approvalQueries from "../approvals/queries";
import { ApprovalCard } from "../approvals/ApprovalCard";

export function RunApprovals({ runId }: { runId: string }) {
  const pending = useQuery(approvalQueries.approvals).data?.filter((each) => each.run_id === runId) ?? [];
  if (pending.length === 0) return null;
  return (
    <ul className="space-y-3">
      {pending.map((approval) => (
        <ApprovalCard key={approval.approval_id} approval={approval} linked={false} />
      ))}
    </ul>
  );
}
