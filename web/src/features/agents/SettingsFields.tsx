// The name of an agent, its runner, and the settings of the runner.
import { useTranslation } from "react-i18next";

import { fieldMessage } from "../../api/problem";
import type { Runner } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { SchemaForm } from "../../components/form/SchemaForm";
import { newForm, ofForm } from "../../components/form/values";
import { Switch } from "../../components/Switch";
import { localized } from "../../lib/format";
import { ConnectionTest } from "./ConnectionTest";
import { useAgentForm } from "./formContext";
import { RunnerPicker } from "./RunnerPicker";

export function SettingsFields({ error, runners }: { error: unknown; runners: Runner[] }) {
  const { draft, put, disabled, runner, choices } = useAgentForm();
  const { t, i18n } = useTranslation();
  const items = runner?.config_schema ?? [];
  const messages = Object.fromEntries(
    items.map((item) => [item.name, fieldMessage(error, `runner_config.${item.name}`)]),
  );
  const choose = (id: string) =>
    put({
      runner_id: id,
      runner_config: newForm(runners.find((each) => each.id === id)?.config_schema ?? [], choices.models),
    });
  return (
    <div className="space-y-5">
      <Identity error={error} />
      {runner ? (
        !disabled &&
        runners.length > 1 && (
          <Collapsible title={t("agents.answersWith", { runner: localized(runner.label, i18n.language) })}>
            <RunnerPicker runners={runners} chosen={runner.id} onChoose={choose} />
          </Collapsible>
        )
      ) : (
        <div className="space-y-3">
          <ErrorMessage error={new Error(t("agents.runnerGone", { runner: pluginOf(draft.runner_id) }))} />
          {!disabled && <RunnerPicker runners={runners} chosen="" onChoose={choose} />}
        </div>
      )}
      <div className="space-y-5 border-t border-line pt-5">
        <SchemaForm
          key={draft.runner_id}
          items={items}
          values={draft.runner_config}
          onChange={(runner_config) => put({ runner_config })}
          choices={choices}
          messages={messages}
          disabled={disabled}
        />
        {runner?.capabilities.connection_test && !disabled && (
          <ConnectionTest
            key={draft.runner_id}
            runner={runner}
            config={ofForm(items, draft.runner_config)}
            agentId={draft.agent_id}
          />
        )}
      </div>
    </div>
  );
}

/** `plugin:author/name/component` is a runner of the plugin `author/name`. */
const pluginOf = (runnerId: string) =>
  runnerId
    .replace(/^plugin:/, "")
    .split("/")
    .slice(0, 2)
    .join("/");

function Identity({ error }: { error: unknown }) {
  const { draft, put, disabled } = useAgentForm();
  const { t } = useTranslation();
  return (
    <>
      <div className="flex items-end gap-4">
        <div className="min-w-0 flex-1">
          <Field label={t("common.name")} required error={fieldMessage(error, "name")}>
            {(control) => (
              <Input
                {...control}
                required
                value={draft.name}
                disabled={disabled}
                onChange={(event) => put({ name: event.target.value })}
              />
            )}
          </Field>
        </div>
        <div className="flex h-10 items-center gap-2 text-sm">
          <Switch
            label={t("common.enabled")}
            checked={draft.enabled}
            disabled={disabled}
            onChange={(enabled) => put({ enabled })}
          />
          {t("common.enabled")}
        </div>
      </div>
      <Field label={t("common.description")} error={fieldMessage(error, "description")}>
        {(control) => (
          <Input
            {...control}
            value={draft.description}
            disabled={disabled}
            onChange={(event) => put({ description: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}
