// One route: which events, under which conditions, and who handles them.
import { useQuery } from "@tanstack/react-query";
import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Adapter, Fields, HandlerType, Route } from "../../api/facts";
import * as queries from "../../api/queries";
import { IconButton } from "../../components/Button";
import { Field, Input, Select } from "../../components/Field";
import { Fold } from "../../components/Fold";
import { CheckList } from "../../components/form/lists";
import { Switch } from "../../components/Switch";
import { FilterFields } from "./FilterFields";

const HANDLERS: HandlerType[] = ["agent", "webhook", "plugin", "drop"];

type Props = {
  route: Route;
  adapter: Adapter;
  disabled: boolean;
  onChange: (route: Route) => void;
  onRemove: () => void;
  onUp?: () => void;
  onDown?: () => void;
};

export function RouteCard({ route, adapter, disabled, onChange, onRemove, onUp, onDown }: Props) {
  const { t } = useTranslation();
  const patterns = [...new Set(["message.received", "message.*", "*", ...adapter.supported_events, route.event_type])];
  const count = Object.keys(route.filters).length;
  return (
    <li className="rounded-card border border-line bg-surface p-4 shadow-card">
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-40 flex-1">
          <Field label={t("routes.event")}>
            {(control) => (
              <Select {...control} value={route.event_type} disabled={disabled} onChange={(event) => onChange({ ...route, event_type: event.target.value })}>
                {patterns.map((pattern) => <option key={pattern}>{pattern}</option>)}
              </Select>
            )}
          </Field>
        </div>
        <div className="min-w-40 flex-1">
          <Field label={t("routes.handler")}>
            {(control) => (
              <Select {...control} value={route.handler_type} disabled={disabled} onChange={(event) => onChange({ ...route, handler_type: event.target.value as HandlerType, handler_config: {} })}>
                {HANDLERS.map((handler) => <option key={handler} value={handler}>{t(`handler.${handler}`)}</option>)}
              </Select>
            )}
          </Field>
        </div>
        <div className="flex h-10 items-center">
          <Switch label={t("common.enabled")} checked={route.enabled} disabled={disabled} onChange={(enabled) => onChange({ ...route, enabled })} />
          <IconButton label={t("common.up")} disabled={disabled || !onUp} onClick={onUp}><ArrowUp className="size-4" /></IconButton>
          <IconButton label={t("common.down")} disabled={disabled || !onDown} onClick={onDown}><ArrowDown className="size-4" /></IconButton>
          <IconButton label={t("common.remove")} disabled={disabled} onClick={onRemove}><Trash2 className="size-4" /></IconButton>
        </div>
      </div>
      <div className="mt-4"><Handler route={route} disabled={disabled} onChange={(handler_config) => onChange({ ...route, handler_config })} /></div>
      <div className="mt-3">
        <Fold title={count ? t("routes.filterCount", { count }) : t("routes.noFilters")}>
          <FilterFields filters={route.filters} disabled={disabled} onChange={(filters) => onChange({ ...route, filters })} />
        </Fold>
      </div>
    </li>
  );
}

function Handler({ route, disabled, onChange }: { route: Route; disabled: boolean; onChange: (config: Fields) => void }) {
  const { t } = useTranslation();
  const agents = useQuery(queries.agents).data ?? [];
  const plugins = useQuery(queries.plugins).data ?? [];
  const config = route.handler_config;
  if (route.handler_type === "agent") {
    return (
      <Field label={t("routes.agent")} required>
        {(control) => (
          <Select {...control} required value={String(config.agent_id ?? "")} disabled={disabled} onChange={(event) => onChange({ agent_id: event.target.value })}>
            <option value="">{t("routes.chooseAgent")}</option>
            {agents.map((agent) => <option key={agent.agent_id} value={agent.agent_id}>{agent.name}</option>)}
          </Select>
        )}
      </Field>
    );
  }
  if (route.handler_type === "webhook") {
    return (
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label={t("routes.url")} required>
          {(control) => <Input {...control} type="url" placeholder="https://" value={String(config.url ?? "")} disabled={disabled} onChange={(event) => onChange({ ...config, url: event.target.value })} />}
        </Field>
        <Field label={t("routes.secret")} hint={t("routes.secretHint")}>
          {(control) => <Input {...control} type="password" autoComplete="off" value={String(config.secret ?? "")} disabled={disabled} onChange={(event) => onChange({ ...config, secret: event.target.value || undefined })} />}
        </Field>
      </div>
    );
  }
  if (route.handler_type === "plugin") {
    return (
      <Field label={t("nav.plugins")} hint={t("routes.allPlugins")}>
        {(control) => (
          <CheckList control={control} options={plugins.map((plugin) => ({ value: plugin.id, label: plugin.id }))} value={(config.plugins as string[] | undefined) ?? []} disabled={disabled} onChange={(chosen) => onChange({ plugins: chosen })} />
        )}
      </Field>
    );
  }
  return <p className="text-sm text-quiet">{t("routes.dropped")}</p>;
}
