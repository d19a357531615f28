// The handler types of routes: the form, the initial configuration and the summary of each. A new type is a row here.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { Agent, Fields, HandlerType } from "../../api/types";
import { Field, Select } from "../../components/Field";
import { CheckList } from "../../components/form/lists";
import { localized } from "../../lib/format";
import * as agentQueries from "../agents/queries";
import * as pipelineQueries from "../pipelines/queries";
import * as pluginQueries from "../plugins/queries";
import { type HandlerProps, problemOf, type RouteDraft } from "./route";
import { WebhookFields } from "./WebhookFields";

type HandlerForm = {
  initial: Fields;
  Form: (props: HandlerProps) => ReactNode;
  /** Returns what the summary of a route shows as its target. */
  target: (config: Fields, t: TFunction, agents: Agent[] | undefined) => string;
};

/** The handler types in the order of the page. */
const HANDLER_FORMS: Record<HandlerType, HandlerForm> = {
  agent: {
    initial: {},
    Form: AgentFields,
    target: (config, t, agents) =>
      agents?.find((agent) => agent.agent_id === config.agent_id)?.name ?? t("routes.chooseAgent"),
  },
  pipeline: { initial: {}, Form: PipelineFields, target: (_, t) => t("handler.pipeline") },
  webhook: {
    initial: {
      url: "",
      method: "POST",
      headers: {},
      timeout: 30,
      retry_count: 3,
      retry_interval: 5,
      response_actions: false,
    },
    Form: WebhookFields,
    target: (config, t) => hostOf(String(config.url ?? "")) || t("handler.webhook"),
  },
  plugin: {
    initial: { plugins: [] },
    Form: PluginFields,
    target: (config, t) => (config.plugins as string[] | undefined)?.join(", ") || t("routes.everyPlugin"),
  },
  drop: { initial: {}, Form: DropFields, target: (_, t) => t("handler.drop") },
};

export const HANDLER_TYPES = Object.keys(HANDLER_FORMS) as HandlerType[];

/** Returns the route with another handler, whose configuration starts with its initial values. */
export function handedTo(route: RouteDraft, handler_type: HandlerType): RouteDraft {
  return { ...route, handler_type, handler_config: HANDLER_FORMS[handler_type].initial };
}

export function HandlerFields({ route, ...rest }: HandlerProps & { route: RouteDraft }) {
  const { Form } = HANDLER_FORMS[route.handler_type];
  return <Form {...rest} />;
}

export function useTarget(route: RouteDraft): string {
  const { t } = useTranslation();
  const agents = useQuery(agentQueries.agents).data;
  return HANDLER_FORMS[route.handler_type].target(route.handler_config, t, agents);
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

function AgentFields({ config, problems, disabled, onChange }: HandlerProps) {
  const { t } = useTranslation();
  const agents = useQuery(agentQueries.agents).data;
  const agentId = String(config.agent_id ?? "");
  const agent = agents?.find((each) => each.agent_id === agentId);
  const hint =
    agents?.length === 0 ? (
      <Link to="/agents/new" className="text-accent underline">
        {t("agents.create")}
      </Link>
    ) : agent && !agent.enabled ? (
      t("routes.agentOff")
    ) : undefined;
  return (
    <Field label={t("routes.agent")} required hint={hint} error={problemOf(problems, "handler_config.agent_id")}>
      {(control) => (
        <Select
          {...control}
          required
          value={agentId}
          disabled={disabled}
          onChange={(event) => onChange({ ...config, agent_id: event.target.value })}
        >
          <option value="">{t("routes.chooseAgent")}</option>
          {agents?.map((each) => (
            <option key={each.agent_id} value={each.agent_id}>
              {each.name}
            </option>
          ))}
          {agents && agentId && !agent && <option value={agentId}>{t("form.gone")}</option>}
        </Select>
      )}
    </Field>
  );
}

function PipelineFields({ config, problems, disabled, onChange }: HandlerProps) {
  const { t } = useTranslation();
  const pipelines = useQuery(pipelineQueries.pipelines).data;
  const pipelineId = String(config.pipeline_id ?? "");
  return (
    <Field label={t("handler.pipeline")} required error={problemOf(problems, "handler_config.pipeline_id")}>
      {(control) => (
        <Select
          {...control}
          required
          value={pipelineId}
          disabled={disabled}
          onChange={(event) => onChange({ pipeline_id: event.target.value })}
        >
          <option value="">{t("pipelines.choose")}</option>
          {pipelines?.map((each) => (
            <option key={each.pipeline_id} value={each.pipeline_id}>
              {each.name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function PluginFields({ config, problems, disabled, onChange }: HandlerProps) {
  const { t, i18n } = useTranslation();
  const plugins = useQuery(pluginQueries.plugins).data ?? [];
  const options = plugins.map((plugin) => ({
    value: plugin.id,
    label: localized(plugin.label, i18n.language) || plugin.id,
    hint: plugin.id,
  }));
  return (
    <Field label={t("nav.plugins")} hint={t("routes.allPlugins")} error={problemOf(problems, "handler_config.plugins")}>
      {(control) => (
        <CheckList
          control={control}
          options={options}
          value={(config.plugins as string[] | undefined) ?? []}
          disabled={disabled}
          onChange={(plugins) => onChange({ plugins })}
        />
      )}
    </Field>
  );
}

function DropFields() {
  const { t } = useTranslation();
  return <p className="text-sm text-quiet">{t("routes.dropped")}</p>;
}
