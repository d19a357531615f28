// What an agent may use and how it behaves. Only what its runner asks for is offered.
import { useTranslation } from "react-i18next";

import type { Agent, Runner } from "../../api/facts";
import { Field, Input, Select } from "../../components/Field";
import type { Choices } from "../../components/form/controls";
import { CheckList, type Choice, StringList } from "../../components/form/lists";
import { Switch } from "../../components/Switch";

type Part = { draft: Agent; put: (change: Partial<Agent>) => void; disabled: boolean };

export function ResourceFields({ draft, put, runner, choices, disabled }: Part & { runner: Runner | undefined; choices: Choices }) {
  const { t } = useTranslation();
  const asked = (kind: string) => (runner?.permissions[kind]?.length ?? 0) > 0;
  const kinds: [string, Choice[]][] = [
    ["models", choices.models.map((model) => ({ value: model.model_id, label: model.name }))],
    ["tools", choices.tools],
    ["knowledge_bases", choices.knowledgeBases],
    ["skills", choices.skills],
  ];
  const shown = kinds.filter(([kind]) => asked(kind));
  const choose = (kind: string, value: unknown) => put({ resource_policy: { ...draft.resource_policy, [kind]: value } });
  return (
    <div className="space-y-6">
      <p className="text-sm text-quiet">{t("agents.resourcesText")}</p>
      {shown.length === 0 && <p className="text-sm">{t("agents.resourcesNone")}</p>}
      {shown.map(([kind, options]) => {
        const chosen = draft.resource_policy[kind];
        return (
          <div key={kind} className="space-y-2">
            <div className="flex items-center justify-between gap-3">
              <h3 className="text-sm font-medium">{t(`resource.${kind}`)}</h3>
              <span className="flex items-center gap-2 text-sm text-quiet">
                {t("agents.all")}
                <Switch label={`${t(`resource.${kind}`)}: ${t("agents.all")}`} checked={chosen === "*"} disabled={disabled} onChange={(all) => choose(kind, all ? "*" : [])} />
              </span>
            </div>
            {chosen !== "*" && (
              <CheckList control={{ id: `policy-${kind}` }} options={options} value={Array.isArray(chosen) ? chosen.map(String) : []} disabled={disabled} onChange={(value) => choose(kind, value)} />
            )}
          </div>
        );
      })}
    </div>
  );
}

export function BehaviourFields({ draft, put, disabled }: Part) {
  const { t } = useTranslation();
  const delivery = (change: object) => put({ delivery_policy: { ...draft.delivery_policy, ...change } });
  return (
    <div className="space-y-5">
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("agents.timeout")} hint={t("agents.timeoutHint")}>
          {(control) => <Input {...control} type="number" min={0} value={draft.timeout_seconds} disabled={disabled} onChange={(event) => put({ timeout_seconds: event.target.valueAsNumber || 0 })} />}
        </Field>
        <Field label={t("agents.ttl")} hint={t("agents.ttlHint")}>
          {(control) => <Input {...control} type="number" min={0} value={draft.conversation_ttl} disabled={disabled} onChange={(event) => put({ conversation_ttl: event.target.valueAsNumber || 0 })} />}
        </Field>
        <Field label={t("agents.restart")} hint={t("agents.restartHint")}>
          {(control) => (
            <Select {...control} value={draft.restart_policy} disabled={disabled} onChange={(event) => put({ restart_policy: event.target.value as Agent["restart_policy"] })}>
              {["auto", "always", "never"].map((policy) => <option key={policy} value={policy}>{t(`restart.${policy}`)}</option>)}
            </Select>
          )}
        </Field>
        <Field label={t("agents.reply")}>
          {(control) => (
            <Select {...control} value={String(draft.delivery_policy.reply ?? "message")} disabled={disabled} onChange={(event) => delivery({ reply: event.target.value })}>
              {["message", "quote"].map((reply) => <option key={reply} value={reply}>{t(`reply.${reply}`)}</option>)}
            </Select>
          )}
        </Field>
      </div>
      <Field label={t("agents.streaming")} hint={t("agents.streamingHint")}>
        {(control) => <div><Switch id={control.id} checked={draft.delivery_policy.streaming !== false} disabled={disabled} onChange={(streaming) => delivery({ streaming })} /></div>}
      </Field>
      <Field label={t("agents.events")} hint={t("agents.eventsHint")}>
        {(control) => <StringList control={control} value={draft.event_types} disabled={disabled} onChange={(event_types) => put({ event_types })} />}
      </Field>
    </div>
  );
}
