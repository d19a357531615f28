// The box policy of an agent: its tools in the sandbox, limits, and which messages share a sandbox.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import type { Agent } from "../../api/types";
import { Field, Input, Select } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { Switch } from "../../components/Switch";
import { ToggleGroup } from "../../components/ToggleGroup";
import * as boxQueries from "../box/queries";
import { useAgentForm } from "./formContext";
import { TryCommand } from "./TryCommand";

const TOOLS = ["exec", "read", "write", "edit", "glob", "grep"];
const PROFILES = ["default", "offline_readonly", "network_basic", "network_extended"];
const TEMPLATES = [
  "{launcher_type}_{launcher_id}",
  "{launcher_type}_{launcher_id}_{sender_id}",
  "{conversation_id}",
  "{sender_id}",
  "{run_id}",
  "{global}",
];
const OWN = "own";

export function BoxFields() {
  const { t } = useTranslation();
  const { draft, put, disabled } = useAgentForm();
  const status = useQuery(boxQueries.status).data;
  const policy = draft.box_policy;
  const update = (change: Partial<Agent["box_policy"]>) => put({ box_policy: { ...policy, ...change } });
  const fixesNetwork = policy.profile === "default" || policy.profile === "offline_readonly";
  return (
    <div className="space-y-5">
      <p className="text-sm text-quiet">{t("agents.boxText")}</p>
      {status && status.status !== "ready" && (
        <p role="status" className="rounded-control bg-warn-wash px-3.5 py-2.5 text-sm text-warn">
          {t("agents.boxOff", { reason: status.reason ?? t(`boxStatus.${status.status}`) })}
        </p>
      )}
      <Field label={t("agents.boxTools")} hint={t("agents.boxToolsHint")}>
        {(control) => (
          <ToggleGroup
            control={control}
            options={TOOLS.map((tool) => ({ value: tool, label: t(`boxTool.${tool}`) }))}
            value={policy.tools}
            disabled={disabled}
            onChange={(tools) => update({ tools })}
          />
        )}
      </Field>
      {policy.tools.length > 0 && (
        <>
          <Field label={t("agents.boxProfile")} hint={t("agents.boxProfileHint")}>
            {(control) => (
              <Select
                {...control}
                value={policy.profile}
                disabled={disabled}
                onChange={(event) => update({ profile: event.target.value, network: null, host_path: "" })}
              >
                {PROFILES.map((profile) => (
                  <option key={profile} value={profile}>
                    {t(`boxProfile.${profile}`)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <div className="grid gap-5 sm:grid-cols-2">
            <Field
              label={t("agents.boxNetwork")}
              hint={t(fixesNetwork ? "agents.boxNetworkFixed" : "agents.boxNetworkHint")}
              beside
            >
              {(control) => (
                <Switch
                  id={control.id}
                  checked={!fixesNetwork && policy.network !== false}
                  disabled={disabled || fixesNetwork}
                  onChange={(on) => update({ network: on ? null : false })}
                />
              )}
            </Field>
            <Field label={t("agents.boxReadOnly")} hint={t("agents.boxReadOnlyHint")} beside>
              {(control) => (
                <Switch
                  id={control.id}
                  checked={policy.read_only || policy.profile === "offline_readonly"}
                  disabled={disabled || policy.profile === "offline_readonly"}
                  onChange={(read_only) => update({ read_only })}
                />
              )}
            </Field>
          </div>
          {policy.profile === "offline_readonly" && (
            <Field label={t("agents.boxHostPath")} hint={t("agents.boxHostPathHint")}>
              {(control) => (
                <Input
                  {...control}
                  className="font-mono text-sm"
                  placeholder="/srv/manuals"
                  value={policy.host_path}
                  disabled={disabled}
                  onChange={(event) => update({ host_path: event.target.value })}
                />
              )}
            </Field>
          )}
          <Template forced={status?.force_template ?? ""} value={policy.session_template} onChange={update} />
          <Field label={t("agents.boxAsk")} hint={t("agents.boxAskHint")}>
            {(control) => (
              <StringList
                control={control}
                value={policy.ask}
                disabled={disabled}
                onChange={(ask) => update({ ask })}
              />
            )}
          </Field>
          <Field label={t("agents.boxAuthor")} hint={t("agents.boxAuthorHint")} beside>
            {(control) => (
              <Switch
                id={control.id}
                checked={policy.author_skills}
                disabled={disabled}
                onChange={(author_skills) => update({ author_skills })}
              />
            )}
          </Field>
          {status?.status === "ready" && <TryCommand policy={policy} />}
        </>
      )}
    </div>
  );
}

type TemplateProps = { forced: string; value: string; onChange: (change: { session_template: string }) => void };

function Template({ forced, value, onChange }: TemplateProps) {
  const { t } = useTranslation();
  const { disabled } = useAgentForm();
  const shown = forced || value;
  const isOwn = !TEMPLATES.includes(shown);
  return (
    <div className="space-y-2">
      <Field label={t("agents.boxTemplate")} hint={t(forced ? "agents.boxTemplateForced" : "agents.boxTemplateHint")}>
        {(control) => (
          <Select
            {...control}
            value={isOwn ? OWN : shown}
            disabled={disabled || !!forced}
            onChange={(event) =>
              onChange({ session_template: event.target.value === OWN ? "{bot_id}_{sender_id}" : event.target.value })
            }
          >
            {TEMPLATES.map((template, index) => (
              <option key={template} value={template}>
                {t(`boxTemplate.${index}`)}
              </option>
            ))}
            <option value={OWN}>{t("boxTemplate.own")}</option>
          </Select>
        )}
      </Field>
      {isOwn && (
        <Input
          aria-label={t("agents.boxTemplateText")}
          value={shown}
          required
          disabled={disabled || !!forced}
          onChange={(event) => onChange({ session_template: event.target.value })}
        />
      )}
    </div>
  );
}
