// The behaviour of an agent: delivery, state, and time limits.
import { useTranslation } from "react-i18next";

import type { Agent } from "../../api/types";
import { Field, Select } from "../../components/Field";
import { CheckList } from "../../components/form/lists";
import { NumberInput } from "../../components/NumberInput";
import { Switch } from "../../components/Switch";
import { ToggleGroup } from "../../components/ToggleGroup";
import { useEventLabel } from "../../lib/useEventLabel";
import { DoorFields } from "./DoorFields";
import { useAgentForm } from "./formContext";
import { WorkerFields } from "./WorkerFields";

const SCOPES = ["conversation", "actor", "subject", "runner", "binding"];
const EVENTS = [
  "message.received",
  "message.edited",
  "message.deleted",
  "message.reaction",
  "feedback.received",
  "interaction.received",
  "group.member_joined",
  "group.member_left",
  "group.info_updated",
  "friend.request_received",
  "friend.added",
  "bot.invited_to_group",
  "bot.removed_from_group",
  "schedule.triggered",
  "approval.decided",
  "message.*",
  "group.*",
  "*",
];
type Figure = "timeout_seconds" | "conversation_ttl" | "stale_after";
/** The maximum of each value: a day for a run, ten years for the others. */
const MOST_SECONDS: Record<Figure, number> = {
  timeout_seconds: 86_400,
  conversation_ttl: 315_360_000,
  stale_after: 315_360_000,
};

export function BehaviourFields() {
  const { t } = useTranslation();
  const { draft, put, disabled } = useAgentForm();
  return (
    <div className="space-y-8">
      <Group title={t("agents.answering")}>
        <Answering />
      </Group>
      <Group title={t("agents.remembering")}>
        <Field label={t("agents.state")} hint={t("agents.stateHint")} beside>
          {(control) => (
            <Switch
              id={control.id}
              checked={draft.state_policy.enabled}
              disabled={disabled}
              onChange={(enabled) => put({ state_policy: { ...draft.state_policy, enabled } })}
            />
          )}
        </Field>
        {draft.state_policy.enabled && (
          <Field label={t("agents.scopes")} hint={t("agents.scopesHint")}>
            {(control) => (
              <ToggleGroup
                control={control}
                options={SCOPES.map((scope) => ({ value: scope, label: t(`stateScope.${scope}`) }))}
                value={draft.state_policy.scopes}
                disabled={disabled}
                onChange={(scopes) => put({ state_policy: { ...draft.state_policy, scopes } })}
              />
            )}
          </Field>
        )}
        <Seconds name="conversation_ttl" label={t("agents.ttl")} hint={t("agents.ttlHint")} />
      </Group>
      <Group title={t("agents.running")}>
        <Running />
      </Group>
      <Group title={t("agents.clients")}>
        <DoorFields />
      </Group>
    </div>
  );
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="space-y-5">
      <h2 className="border-b border-line pb-2 font-medium">{title}</h2>
      {children}
    </section>
  );
}

function Seconds({ name, label, hint }: { name: Figure; label: string; hint: string }) {
  const { draft, put, disabled } = useAgentForm();
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <NumberInput
          control={control}
          min={0}
          max={MOST_SECONDS[name]}
          required
          className="max-w-40"
          value={draft[name]}
          disabled={disabled}
          onChange={(value) => put({ [name]: value })}
        />
      )}
    </Field>
  );
}

function Answering() {
  const { draft, put, disabled } = useAgentForm();
  const { t } = useTranslation();
  const eventLabel = useEventLabel();
  const events = [...new Set([...EVENTS, ...draft.event_types])].map((type) => ({
    value: type,
    label: eventLabel(type),
  }));
  const delivery = (change: object) => put({ delivery_policy: { ...draft.delivery_policy, ...change } });
  return (
    <>
      <Field label={t("agents.reply")}>
        {(control) => (
          <Select
            {...control}
            value={String(draft.delivery_policy.reply ?? "message")}
            disabled={disabled}
            onChange={(event) => delivery({ reply: event.target.value })}
          >
            {["message", "quote"].map((reply) => (
              <option key={reply} value={reply}>
                {t(`reply.${reply}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("agents.streaming")} hint={t("agents.streamingHint")} beside>
          {(control) => (
            <Switch
              id={control.id}
              checked={draft.delivery_policy.streaming !== false}
              disabled={disabled}
              onChange={(streaming) => delivery({ streaming })}
            />
          )}
        </Field>
        <Field label={t("agents.everyone")} hint={t("agents.everyoneHint")} beside>
          {(control) => (
            <Switch
              id={control.id}
              checked={draft.delivery_policy.mention_everyone === true}
              disabled={disabled}
              onChange={(mention_everyone) => delivery({ mention_everyone })}
            />
          )}
        </Field>
      </div>
      <Field label={t("agents.events")} hint={t("agents.eventsHint")}>
        {(control) => (
          <CheckList
            control={control}
            options={events}
            value={draft.event_types}
            disabled={disabled}
            onChange={(event_types) => put({ event_types })}
          />
        )}
      </Field>
    </>
  );
}

function Running() {
  const { t } = useTranslation();
  const { draft, put, disabled } = useAgentForm();
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Seconds name="timeout_seconds" label={t("agents.timeout")} hint={t("agents.timeoutHint")} />
        <Seconds name="stale_after" label={t("agents.stale")} hint={t("agents.staleHint")} />
      </div>
      <Field label={t("agents.restart")} hint={t("agents.restartHint")}>
        {(control) => (
          <Select
            {...control}
            value={draft.restart_policy}
            disabled={disabled}
            onChange={(event) => put({ restart_policy: event.target.value as Agent["restart_policy"] })}
          >
            {["auto", "always", "never"].map((policy) => (
              <option key={policy} value={policy}>
                {t(`restart.${policy}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <WorkerFields />
    </>
  );
}
