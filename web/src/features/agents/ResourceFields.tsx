// The resources of an agent. Only those that its runner requests are offered.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import type { ResourcePolicy } from "../../api/types";
import { Field } from "../../components/Field";
import type { Choices } from "../../components/form/controls";
import type { Choice } from "../../components/form/lists";
import { Switch } from "../../components/Switch";
import { ToggleGroup } from "../../components/ToggleGroup";
import * as toolQueries from "../tools/queries";
import { useAgentForm } from "./formContext";
import { type Kind, requestedKinds, requestedStorage, requestsHistory } from "./permissions";
import { SelectionField } from "./SelectionField";
import { SenderRules } from "./SenderRules";

export type Offered = Partial<Record<Kind, Choice[]>>;

/** Returns the options of each kind. Files have none: they are named in the form of the runner. */
export function offered(choices: Choices): Offered {
  return {
    models: choices.models.map((model) => ({ value: model.model_id, label: model.name })),
    tools: choices.tools,
    knowledge_bases: choices.knowledgeBases,
    skills: choices.skills,
  };
}

export function ResourceFields() {
  const { draft, put, runner, choices, disabled } = useAgentForm();
  const { t } = useTranslation();
  const servers = useQuery(toolQueries.mcpServers).data ?? [];
  const policy = draft.resource_policy;
  const change = (changed: Partial<ResourcePolicy>) => put({ resource_policy: { ...policy, ...changed } });
  const offers = offered(choices);
  // a kind without options is hidden, unless some of it was selected by name
  const kinds = requestedKinds(runner).filter(
    (kind) => !!offers[kind]?.length || (Array.isArray(policy[kind]) && policy[kind].length > 0),
  );
  const storage = requestedStorage(runner);
  const isEmpty = kinds.length === 0 && storage.length === 0 && !requestsHistory(runner);
  return (
    <div className="space-y-6">
      <p className="text-sm text-quiet">{t(isEmpty ? "agents.resourcesNone" : "agents.resourcesText")}</p>
      {kinds.map((kind) => (
        <SelectionField
          key={kind}
          id={`policy-${kind}`}
          label={t(`resource.${kind}`)}
          options={offers[kind] ?? []}
          value={policy[kind] ?? []}
          disabled={disabled}
          onChange={(value) => change({ [kind]: value })}
        />
      ))}
      {kinds.includes("tools") && servers.length > 0 && (
        <SelectionField
          id="policy-mcp"
          label={t("agents.servers")}
          options={servers.map((server) => ({ value: server.name, label: server.name }))}
          value={policy.mcp_servers ?? []}
          disabled={disabled}
          onChange={(value) => change({ mcp_servers: value })}
        />
      )}
      {storage.length > 0 && (
        <Field label={t("agents.storage")} hint={t("agents.storageHint")}>
          {(control) => (
            <ToggleGroup
              control={control}
              options={storage.map((area) => ({ value: area, label: t(`storage.${area}`) }))}
              value={policy.storage ?? []}
              disabled={disabled}
              onChange={(value) => change({ storage: value })}
            />
          )}
        </Field>
      )}
      {requestsHistory(runner) && (
        <Field label={t("agents.otherHistory")} hint={t("agents.otherHistoryHint")} beside>
          {(control) => (
            <Switch
              id={control.id}
              checked={policy.cross_conversation_history === true}
              disabled={disabled}
              onChange={(value) => change({ cross_conversation_history: value })}
            />
          )}
        </Field>
      )}
      {kinds.length > 0 && <SenderRules kinds={kinds} offers={offers} />}
    </div>
  );
}
