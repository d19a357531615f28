// The handler of a route: an agent, a webhook, plugins, or none.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Field, Select } from "../../components/Field";
import { CheckList } from "../../components/form/lists";
import { localized } from "../../lib/format";
import * as agentQueries from "../agents/queries";
import * as pluginQueries from "../plugins/queries";
import { type HandlerProps, problemOf, type RouteDraft } from "./route";
import { WebhookFields } from "./WebhookFields";

export function HandlerFields({ route, ...rest }: HandlerProps & { route: RouteDraft }) {
  const { t } = useTranslation();
  switch (route.handler_type) {
    case "agent":
      return <AgentFields {...rest} />;
    case "webhook":
      return <WebhookFields {...rest} />;
    case "plugin":
      return <PluginFields {...rest} />;
    case "drop":
      return <p className="text-sm text-quiet">{t("routes.dropped")}</p>;
  }
}

function AgentFields({ config, problems, disabled, onChange }: HandlerProps) {
  const { t } = useTranslation();
  const agents = useQuery(agentQueries.agents).data;
  const chosen = String(config.agent_id ?? "");
  const agent = agents?.find((each) => each.agent_id === chosen);
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
          value={chosen}
          disabled={disabled}
          onChange={(event) => onChange({ agent_id: event.target.value })}
        >
          <option value="">{t("routes.chooseAgent")}</option>
          {agents?.map((each) => (
            <option key={each.agent_id} value={each.agent_id}>
              {each.name}
            </option>
          ))}
          {agents && chosen && !agent && <option value={chosen}>{t("form.gone")}</option>}
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
          onChange={(chosen) => onChange({ plugins: chosen })}
        />
      )}
    </Field>
  );
}
