// Lets the user log in again in front of the current page, so that unsaved input is kept.
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { Dialog } from "../components/Dialog";
import { LoginForm } from "../features/start/LoginForm";
import { markSessionRenewed, useSessionExpired } from "./sessionExpired";

export function SessionExpiredDialog() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const expired = useSessionExpired();
  const onLoggedIn = () => {
    markSessionRenewed();
    void client.invalidateQueries();
  };
  return (
    <Dialog open={expired} title={t("login.over")} onClose={markSessionRenewed}>
      <p className="mb-4 text-sm text-quiet">{t("login.overText")}</p>
      <LoginForm onLoggedIn={onLoggedIn} />
    </Dialog>
  );
}
