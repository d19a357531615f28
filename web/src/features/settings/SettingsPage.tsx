// The settings: account, users, API keys, workspace, and appearance.
import { useTranslation } from "react-i18next";

import { useRights } from "../../app/session";
import { PageBody } from "../../components/Layout";
import { Tabs } from "../../components/Tabs";
import { Account } from "./Account";
import { Appearance } from "./Appearance";
import { Keys } from "./Keys";
import { People } from "./People";
import { Workspace } from "./Workspace";

export default function SettingsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const shared = [
    { id: "people", label: t("settings.people"), content: <People /> },
    { id: "keys", label: t("settings.keys"), content: <Keys /> },
    { id: "workspace", label: t("settings.workspace"), content: <Workspace /> },
  ];
  return (
    <PageBody title={t("nav.settings")} text={t("settings.text")}>
      <Tabs
        tabs={[
          { id: "account", label: t("settings.account"), content: <Account /> },
          ...(edit ? shared : []),
          { id: "page", label: t("settings.page"), content: <Appearance /> },
        ]}
      />
    </PageBody>
  );
}
