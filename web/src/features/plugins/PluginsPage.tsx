// What is installed: how it does, what it may do in words, what it wrote, and one more.
import { useQuery } from "@tanstack/react-query";
import { Boxes } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Plugin } from "../../api/facts";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Fold } from "../../components/Fold";
import { Empty, ErrorNote, Loading } from "../../components/Notes";
import { Badge, Card, Code, PageBody, State } from "../../components/Surfaces";
import { Switch } from "../../components/Switch";
import { worded } from "../../lib/text";
import { useSave } from "../../lib/useSave";
import { InstallDialog } from "./InstallDialog";
import { Permissions } from "./Permissions";

export default function PluginsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const plugins = useQuery(queries.plugins);
  const [installing, setInstalling] = useState(false);
  const install = edit && <Button weight="primary" onClick={() => setInstalling(true)}>{t("plugins.install")}</Button>;
  return (
    <PageBody title={t("nav.plugins")} text={t("plugins.text")} actions={install}>
      <ErrorNote error={plugins.error} />
      {plugins.isPending && <Loading />}
      {plugins.data?.length === 0 && <Empty icon={<Boxes />} title={t("plugins.empty")} text={t("plugins.emptyText")}>{install}</Empty>}
      <div className="space-y-4">{plugins.data?.map((plugin) => <PluginCard key={plugin.id} plugin={plugin} />)}</div>
      <InstallDialog open={installing} onClose={() => setInstalling(false)} />
    </PageBody>
  );
}

function PluginCard({ plugin }: { plugin: Plugin }) {
  const { t, i18n } = useTranslation();
  const { edit, operate } = useRights();
  const [removing, setRemoving] = useState(false);
  const [author = "", name = ""] = plugin.id.split("/");
  const path = { params: { path: { author, name } } };
  const stale = ["plugins", "runners", "tools"];
  const restarting = useSave(() => answer(api.POST("/api/v1/plugins/{author}/{name}/restart", path)), stale);
  const switching = useSave((enabled: boolean) => answer(api.PUT("/api/v1/plugins/{author}/{name}", { ...path, body: { enabled } })), stale);
  const deleting = useSave(() => answer(api.DELETE("/api/v1/plugins/{author}/{name}", path)), stale);
  return (
    <Card>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold">
            {worded(plugin.label, i18n.language) || plugin.id} <State state={plugin.status} />
          </h2>
          <p className="text-xs text-quiet">{plugin.id} · {plugin.version} · {plugin.source}</p>
          <p className="mt-2 text-sm text-quiet">{worded(plugin.description, i18n.language)}</p>
        </div>
        <div className="flex items-center gap-2">
          {edit && <Switch label={t("common.enabled")} checked={plugin.enabled} disabled={switching.isPending} onChange={(enabled) => switching.mutate(enabled)} />}
          {operate && <Button small busy={restarting.isPending} onClick={() => restarting.mutate(undefined)}>{t("plugins.restart")}</Button>}
          {edit && <Button small weight="danger" onClick={() => setRemoving(true)}>{t("common.remove")}</Button>}
        </div>
      </div>
      <div className="mt-3 space-y-2">
        <ErrorNote error={restarting.error ?? switching.error ?? (plugin.reason ? new Error(plugin.reason) : null)} />
        {plugin.warnings.map((warning) => <p key={warning} className="text-sm text-warn">{warning}</p>)}
        <div className="flex flex-wrap gap-1.5">
          {plugin.components.map((each) => <Badge key={each.kind + each.name}>{each.kind}: {each.name}</Badge>)}
          <Badge tone={plugin.sandbox && plugin.sandbox !== "none" ? "good" : "warn"}>{t("plugins.sandbox", { name: plugin.sandbox ?? t("plugins.noSandbox") })}</Badge>
        </div>
        <Fold title={t("plugins.permissions")}><Permissions plugin={plugin} /></Fold>
        <Fold title={t("plugins.logs")}><Logs id={plugin.id} /></Fold>
      </div>
      <Confirm
        open={removing}
        title={t("plugins.removeTitle", { name: plugin.id })}
        text={t("plugins.removeText")}
        action={t("common.remove")}
        busy={deleting.isPending}
        error={deleting.error}
        onConfirm={() => deleting.mutate(undefined)}
        onClose={() => setRemoving(false)}
      />
    </Card>
  );
}

function Logs({ id }: { id: string }) {
  const { t } = useTranslation();
  const logs = useQuery(queries.pluginLogs(id));
  if (logs.error) return <ErrorNote error={logs.error} />;
  if (!logs.data) return <Loading />;
  if (logs.data.length === 0) return <p className="text-sm text-quiet">{t("plugins.noLogs")}</p>;
  return <Code>{logs.data.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}</Code>;
}
