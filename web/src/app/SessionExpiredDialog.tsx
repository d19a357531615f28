// Logs somebody in again over the page they were on, so that nothing they typed is lost.
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { Dialog } from "../components/Dialog";
import { LoginForm } from "../features/start/LoginForm";
import { markSessionBack, useSessionOver } from "./sessionExpired";

export function SessionOver() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const over = useSessionOver();
  const entered = () => {
    markSessionBack();
    void client.invalidateQueries();
  };
  return (
    <Dialog open={over} title={t("login.over")} onClose={markSessionBack}>
      <p className="mb-4 text-sm text-quiet">{t("login.overText")}</p>
      <LoginForm onEntered={entered} />
    </Dialog>
  );
}
