// Everything that an approval allows, and whether it happens outside the chat that asked.
import { TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Approval } from "../../api/types";
import { DiffText } from "../../components/DiffText";
import { changeOf, details, isLiveQuestion } from "./approvalDetails";

export function Details({ approval }: { approval: Pick<Approval, "call"> }) {
  const { t, i18n } = useTranslation();
  return (
    <div className="mt-3 space-y-2 rounded-control bg-raised/70 p-3.5 text-sm">
      {approval.call.elsewhere === true && (
        <p className="flex items-center gap-2 font-medium text-warn">
          <TriangleAlert aria-hidden className="size-4" /> {t("approvals.elsewhere")}
        </p>
      )}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
        {details(approval).map(({ name, value }, index) => (
          <div key={`${name} ${index}`} className="contents">
            <dt className="text-quiet">
              {i18n.exists(`argument.${name}`) ? t(`argument.${name}`) : name.replaceAll("_", " ")}
            </dt>
            <dd className="whitespace-pre-wrap wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      {isLiveQuestion(approval) && changeOf(approval) && <DiffText>{changeOf(approval)}</DiffText>}
    </div>
  );
}
