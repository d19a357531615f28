// The default agents that apply to a bot, and the one of a single conversation.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Bot, DefaultAgent } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { type ControlProps, Field, Input, Select } from "../../components/Field";
import { Badge, Card } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { Row, Rows } from "../../components/List";
import { useSave } from "../../lib/useSave";
import * as agentQueries from "../agents/queries";
import {
  bodyOf,
  findDefault,
  nameOf,
  type Place,
  placeOf,
  relevantTo,
  requiredFields,
  type Scope,
  SCOPES,
} from "./defaultScopes";
import * as botQueries from "./queries";

const STALE = ["defaultAgents"];
const removal = (default_id: string) =>
  answer(api.DELETE("/api/v1/default-agents/{default_id}", { params: { path: { default_id } } }));
const setting = (place: Place, agent_id: string, replaces = "") =>
  answer(api.PUT("/api/v1/default-agents", { body: { ...bodyOf(place), agent_id, replaces } }));

export function DefaultAgents({ bot }: { bot: Bot }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const defaults = useQuery(botQueries.defaultAgents);
  if (defaults.error) return <ErrorMessage error={defaults.error} />;
  if (!defaults.data) return <Loading />;
  const relevant = relevantTo(defaults.data, bot.bot_id, bot.adapter);
  return (
    <div className="space-y-5">
      <p className="text-sm text-quiet">{t("defaultAgents.text")}</p>
      {relevant.length === 0 ? (
        <Empty title={t("defaultAgents.empty")} text={t("defaultAgents.emptyText")} />
      ) : (
        <Rows>
          {relevant.map((each) => (
            <Default key={each.default_id} known={each} edit={edit} />
          ))}
        </Rows>
      )}
      {edit && <Adding bot={bot} />}
    </div>
  );
}

function Default({ known, edit }: { known: DefaultAgent; edit: boolean }) {
  const { t } = useTranslation();
  return (
    <Row
      title={known.agent_name}
      text={nameOf(known)}
      marks={
        <>
          {!known.agent_enabled && <Badge tone="warn">{t("common.disabled")}</Badge>}
          <Badge>{t(`place.${known.scope}`)}</Badge>
        </>
      }
      actions={
        edit && (
          <DeleteButton
            icon
            label={t("defaultAgents.remove", { name: known.agent_name })}
            title={t("defaultAgents.removeTitle", { name: known.agent_name })}
            text={t("defaultAgents.removeText")}
            action={t("common.remove")}
            remove={() => removal(known.default_id)}
            stale={STALE}
          />
        )
      }
    />
  );
}

function Adding({ bot }: { bot: Bot }) {
  const { t } = useTranslation();
  const emptyPlace: Place = {
    scope: "conversation",
    bot_id: bot.bot_id,
    platform: bot.adapter,
    chat: "",
    thread_id: "",
    actor_id: "",
  };
  const [place, setPlace] = useState(emptyPlace);
  const [agentId, setAgentId] = useState("");
  const saving = useSave(
    () => setting(place, agentId),
    STALE,
    () => setPlace({ ...emptyPlace, scope: place.scope }),
  );
  return (
    <Card title={t("defaultAgents.add")}>
      <form
        className="grid items-start gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate(undefined);
        }}
      >
        <LeaveGuard dirty={requiredFields(place.scope).some((name) => place[name] !== "")} />
        <Field label={t("defaultAgents.scope")} hint={t(`placeHint.${place.scope}`)}>
          {(control) => (
            <Select
              {...control}
              value={place.scope}
              onChange={(event) => setPlace({ ...place, scope: event.target.value as Scope })}
            >
              {SCOPES.map((scope) => (
                <option key={scope} value={scope}>
                  {t(`place.${scope}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {requiredFields(place.scope).map((name) => (
          <Field key={name} label={t(`defaultAgents.${name}`)} required error={fieldMessage(saving.error, name)}>
            {(control) => (
              <Input
                {...control}
                required
                placeholder={name === "chat" ? "group:42" : undefined}
                value={place[name]}
                onChange={(event) => setPlace({ ...place, [name]: event.target.value })}
              />
            )}
          </Field>
        ))}
        <Field label={t("routes.agent")} required error={fieldMessage(saving.error, "agent_id")}>
          {(control) => (
            <Choice control={control} required value={agentId} none={t("routes.chooseAgent")} onChange={setAgentId} />
          )}
        </Field>
        <div className="space-y-3 sm:col-span-2">
          <ErrorMessage error={saving.error} />
          <Button type="submit" weight="primary" busy={saving.isPending}>
            {t("common.add")}
          </Button>
        </div>
      </form>
    </Card>
  );
}

/** Renders nothing for a conversation that belongs to one agent, such as in the web chat. */
export function AgentHere({ conversationId }: { conversationId: string }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const conversation = useQuery(botQueries.conversation(conversationId));
  const defaults = useQuery(botQueries.defaultAgents);
  const place = conversation.data ? placeOf(conversation.data) : null;
  const existing = place && defaults.data ? findDefault(defaults.data, place) : undefined;
  const saving = useSave(async (agentId: string) => {
    if (agentId && place) await setting(place, agentId, existing?.agent_id);
    else if (existing) await removal(existing.default_id);
  }, STALE);
  if (!place || !defaults.data) return null;
  return (
    <div className="mt-4 max-w-sm">
      <Field label={t("defaultAgents.here")} hint={t("defaultAgents.hereHint")}>
        {(control) => (
          <Choice
            control={control}
            disabled={!edit || saving.isPending}
            value={existing?.agent_id ?? ""}
            none={t("defaultAgents.byRoutes")}
            onChange={(agentId) => saving.mutate(agentId)}
          />
        )}
      </Field>
      <ErrorMessage error={saving.error} />
    </div>
  );
}

function Choice({
  control,
  value,
  none,
  required,
  disabled,
  onChange,
}: {
  control: ControlProps;
  value: string;
  none: string;
  required?: boolean;
  disabled?: boolean;
  onChange: (agentId: string) => void;
}) {
  const agents = useQuery(agentQueries.agents).data ?? [];
  return (
    <Select
      {...control}
      required={required}
      disabled={disabled}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{none}</option>
      {agents.map((agent) => (
        <option key={agent.agent_id} value={agent.agent_id}>
          {agent.name}
        </option>
      ))}
    </Select>
  );
}
