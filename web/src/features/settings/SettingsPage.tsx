// The workspace: people and their roles, keys for programs, one's own account, and how the page looks.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";
import { Preferences } from "../../app/Preferences";
import { useRights } from "../../app/session";
import { Card, PageBody } from "../../components/Surfaces";
import { Tabs } from "../../components/Tabs";
import { Account } from "./Account";
import { Keys } from "./Keys";
import { People } from "./People";

export default function SettingsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const info = useQuery(queries.info).data;
  const own = { id: "account", label: t("settings.account"), content: <Account /> };
  const page = {
    id: "page",
    label: t("settings.page"),
    content: (
      <Card>
        <div className="max-w-60"><Preferences /></div>
        {info && <p className="mt-4 text-sm text-quiet">{t("settings.version", { version: info.version, zone: info.time_zone })}</p>}
      </Card>
    ),
  };
  const shared = [
    { id: "people", label: t("settings.people"), content: <People /> },
    { id: "keys", label: t("settings.keys"), content: <Keys /> },
  ];
  return (
    <PageBody title={t("nav.settings")}>
      <Tabs tabs={[own, ...(edit ? shared : []), page]} />
    </PageBody>
  );
}
