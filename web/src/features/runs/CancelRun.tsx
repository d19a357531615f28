// Cancels a run after a confirmation.
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { DeleteButton } from "../../components/DeleteButton";

export function CancelRun({ runId }: { runId: string }) {
  const { t } = useTranslation();
  return (
    <DeleteButton
      label={t("runs.cancel")}
      title={t("runs.cancelTitle")}
      text={t("runs.cancelText")}
      action={t("runs.cancel")}
      keep={t("runs.cancelKeep")}
      remove={() => answer(api.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id: runId } } }))}
      stale={["runs"]}
    />
  );
}
