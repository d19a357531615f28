// The installed plugins, and the installation of another one.
import { useQuery } from "@tanstack/react-query";
import { Boxes } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { PageBody } from "../../components/Layout";
import { BundledPlugins } from "./BundledPlugins";
import { InstallDialog } from "./InstallDialog";
import { PluginCard } from "./PluginCard";
import * as pluginQueries from "./queries";
import { SandboxMissing } from "./SandboxMissing";

export default function PluginsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const plugins = useQuery(pluginQueries.plugins);
  const [installing, setInstalling] = useState(false);
  const install = edit && (
    <Button weight="primary" onClick={() => setInstalling(true)}>
      {t("plugins.install")}
    </Button>
  );
  return (
    <PageBody title={t("nav.plugins")} text={t("plugins.text")} actions={install}>
      <ErrorMessage error={plugins.error} />
      <SandboxMissing />
      {plugins.isPending && <Loading />}
      {plugins.data?.length === 0 && (
        <Empty icon={<Boxes />} title={t("plugins.empty")} text={t("plugins.emptyText")}>
          {install}
        </Empty>
      )}
      <div className="space-y-4">
        {plugins.data?.map((plugin) => (
          <PluginCard key={plugin.id} plugin={plugin} />
        ))}
      </div>
      {plugins.data && <BundledPlugins installed={plugins.data.map((plugin) => plugin.id)} />}
      <InstallDialog open={installing} onClose={() => setInstalling(false)} />
    </PageBody>
  );
}
