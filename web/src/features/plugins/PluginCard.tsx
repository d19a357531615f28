// One plugin: status, components, permissions and logs.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Plugin } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Collapsible } from "../../components/Collapsible";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, Card, Code, State } from "../../components/Layout";
import { Switch } from "../../components/Switch";
import { localized } from "../../lib/format";
import { useSave } from "../../lib/useSave";
import { InstallDialog } from "./InstallDialog";
import { Permissions } from "./Permissions";
import { PluginConfig } from "./PluginConfig";
import { PluginPages } from "./PluginPages";
import { Programs } from "./Programs";
import * as pluginQueries from "./queries";
import { PLUGIN_KEYS } from "./queryKeys";
import { RemovePlugin } from "./RemovePlugin";

export function PluginCard({ plugin }: { plugin: Plugin }) {
  const { t, i18n } = useTranslation();
  const { edit, operate } = useRights();
  const [author = "", name = ""] = plugin.id.split("/");
  const path = { params: { path: { author, name } } };
  const restarting = useSave(() => answer(api.POST("/api/v1/plugins/{author}/{name}/restart", path)), PLUGIN_KEYS);
  const switching = useSave(
    (enabled: boolean) => answer(api.PUT("/api/v1/plugins/{author}/{name}", { ...path, body: { enabled } })),
    PLUGIN_KEYS,
  );
  const label = localized(plugin.label, i18n.language) || plugin.id;
  const ungranted = plugin.permissions.words.ungranted.length;
  const error = restarting.error ?? switching.error;
  return (
    <Card>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold">
            {label} <State state={plugin.status} />
          </h2>
          <p className="text-xs break-all text-quiet">
            {plugin.id} · {plugin.version} · {plugin.source}
          </p>
          <p className="mt-2 text-sm text-quiet">{localized(plugin.description, i18n.language)}</p>
        </div>
        {edit && (
          <div className="flex flex-wrap items-center gap-2">
            <Switch
              label={t("plugins.on", { name: label })}
              checked={plugin.enabled}
              disabled={switching.isPending}
              onChange={(enabled) => switching.mutate(enabled)}
            />
            <Button
              small
              busy={restarting.isPending}
              disabled={!plugin.enabled}
              onClick={() => restarting.mutate(undefined)}
            >
              {t("plugins.restart")}
            </Button>
            <Upgrade plugin={plugin} />
            <RemovePlugin plugin={plugin} />
          </div>
        )}
      </div>
      <div className="mt-3 space-y-2">
        <ErrorMessage error={error ?? plugin.reason} mild={!error && plugin.status !== "failed"} />
        {plugin.warnings.map((warning) => (
          <p key={warning} className="text-sm text-warn">
            {warning}
          </p>
        ))}
        <div className="flex flex-wrap gap-1.5">
          {plugin.components.map((each) => (
            <Badge key={each.kind + each.name}>{t(`component.${each.kind}`, { name: each.name })}</Badge>
          ))}
          <Sandbox plugin={plugin} />
        </div>
        {plugin.components.some(({ kind }) => kind === "Page") && (
          <Collapsible title={t("plugins.pages")}>
            <PluginPages plugin={plugin} />
          </Collapsible>
        )}
        {plugin.configurable && (
          <Collapsible title={t("plugins.config")}>
            <PluginConfig id={plugin.id} />
          </Collapsible>
        )}
        {plugin.permissions.asked.processes && (
          <Collapsible title={t("programs.title")}>
            <Programs id={plugin.id} />
          </Collapsible>
        )}
        <Collapsible title={ungranted ? t("plugins.permissionsSome", { count: ungranted }) : t("plugins.permissions")}>
          <Permissions plugin={plugin} />
        </Collapsible>
        {operate && (
          <Collapsible title={t("plugins.logs")}>
            <Logs id={plugin.id} />
          </Collapsible>
        )}
      </div>
    </Card>
  );
}

/** Installs a new version of this plugin; permissions stay, and the old one runs until the new one has started. */
function Upgrade({ plugin }: { plugin: Plugin }) {
  const { t } = useTranslation();
  const [confirming, setConfirming] = useState(false);
  return (
    <>
      <Button small onClick={() => setConfirming(true)}>
        {t("plugins.upgrade")}
      </Button>
      <InstallDialog open={confirming} upgrade={plugin.id} onClose={() => setConfirming(false)} />
    </>
  );
}

function Sandbox({ plugin }: { plugin: Plugin }) {
  const { t } = useTranslation();
  if (plugin.sandbox && plugin.sandbox !== "none")
    return <Badge tone="good">{t("plugins.sandboxed", { name: plugin.sandbox })}</Badge>;
  if (plugin.sandbox_missing) return <Badge tone="warn">{t("plugins.withoutSandbox")}</Badge>;
  if (!plugin.sandbox_reason) return null;
  return (
    <p className="w-full text-sm text-warn">
      {t("plugins.unsandboxed")} {plugin.sandbox_reason} {plugin.sandbox_remedy}
    </p>
  );
}

function Logs({ id }: { id: string }) {
  const { t } = useTranslation();
  const logs = useQuery(pluginQueries.pluginLogs(id));
  if (logs.error) return <ErrorMessage error={logs.error} />;
  if (!logs.data) return <Loading />;
  return (
    <div className="space-y-2">
      {logs.data.length === 0 ? (
        <p className="text-sm text-quiet">{t("plugins.noLogs")}</p>
      ) : (
        <Code>{logs.data.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}</Code>
      )}
      <Button small weight="quiet" busy={logs.isFetching} onClick={() => void logs.refetch()}>
        {t("plugins.readAgain")}
      </Button>
    </div>
  );
}
