// One bot: how its connection does, its routes, what it received, and its settings.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Adapter, Bot } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Field, Input } from "../../components/Field";
import { NO_CHOICES } from "../../components/form/controls";
import { SchemaForm } from "../../components/form/SchemaForm";
import { Empty, ErrorNote, Loading } from "../../components/Notes";
import { Badge, Card, PageBody, State } from "../../components/Surfaces";
import { Switch } from "../../components/Switch";
import { Tabs } from "../../components/Tabs";
import { Fold } from "../../components/Fold";
import { moment, worded } from "../../lib/text";
import { useSave } from "../../lib/useSave";
import { Why } from "../runs/RunPage";
import { RoutesEditor } from "./RoutesEditor";

export default function BotPage() {
  const { t, i18n } = useTranslation();
  const { botId } = useParams({ from: "/inside/bots/$botId" });
  const bot = useQuery(queries.bot(botId));
  const adapters = useQuery(queries.adapters);
  if (bot.error) return <div className="p-8"><ErrorNote error={bot.error} /></div>;
  const adapter = adapters.data?.find((each) => each.name === bot.data?.adapter);
  if (!bot.data || !adapter) return <div className="p-8"><Loading /></div>;
  const { status } = bot.data;
  return (
    <PageBody
      title={<span className="flex flex-wrap items-center gap-3">{bot.data.name} {bot.data.enabled ? <State state={status.state} /> : <Badge>{t("common.disabled")}</Badge>}</span>}
      text={worded(adapter.label, i18n.language)}
    >
      {status.last_error && <div className="mb-5"><ErrorNote error={new Error(status.last_error)} mild={status.state === "connecting"} /></div>}
      <Tabs
        tabs={[
          { id: "routes", label: t("bots.routes"), content: <RoutesEditor botId={botId} adapter={adapter} /> },
          { id: "events", label: t("bots.events"), content: <Events botId={botId} /> },
          { id: "settings", label: t("nav.settings"), content: <Settings key={botId} bot={bot.data} adapter={adapter} /> },
        ]}
      />
    </PageBody>
  );
}

function Events({ botId }: { botId: string }) {
  const { t, i18n } = useTranslation();
  const events = useQuery(queries.botEvents(botId));
  if (!events.data) return <Loading />;
  if (events.data.length === 0) return <Empty title={t("bots.noEvents")} text={t("bots.noEventsText")} />;
  return (
    <ul className="space-y-3">
      {events.data.map((event) => (
        <li key={event.event_id} className="rounded-card border border-line bg-surface px-4 py-3">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Badge>{event.event_type}</Badge>
            <span className="min-w-0 flex-1 truncate">{event.actor_name && <b className="font-medium">{event.actor_name}: </b>}{event.input_summary}</span>
            <time className="text-xs text-quiet">{moment(event.created_at, i18n.language)}</time>
          </div>
          <Fold title={t("runs.why")}><Why name={event.event_id} /></Fold>
        </li>
      ))}
    </ul>
  );
}

function Settings({ bot, adapter }: { bot: Bot; adapter: Adapter }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const navigate = useNavigate();
  const [draft, setDraft] = useState({ name: bot.name, enabled: bot.enabled, adapter_config: bot.adapter_config });
  const [removing, setRemoving] = useState(false);
  const path = { params: { path: { bot_id: bot.bot_id } } };
  const saving = useSave(
    () => answer<Bot>(api.PUT("/api/v1/bots/{bot_id}", { ...path, body: { ...draft, adapter: bot.adapter, adapter_config: draft.adapter_config as never } })),
    ["bots"],
  );
  const deleting = useSave(() => answer(api.DELETE("/api/v1/bots/{bot_id}", path)), ["bots"], () => void navigate({ to: "/bots" }));
  const messages = Object.fromEntries(adapter.config.map((item) => [item.name, fieldMessage(saving.error, `adapter_config.${item.name}`)]));
  return (
    <Card>
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate(undefined);
        }}
      >
        <Field label={t("common.name")} required error={fieldMessage(saving.error, "name")}>
          {(control) => <Input {...control} required value={draft.name} disabled={!edit} onChange={(event) => setDraft({ ...draft, name: event.target.value })} />}
        </Field>
        <Field label={t("common.enabled")} hint={t("bots.enabledHint")}>
          {(control) => <div><Switch id={control.id} checked={draft.enabled} disabled={!edit} onChange={(enabled) => setDraft({ ...draft, enabled })} /></div>}
        </Field>
        <SchemaForm
          items={adapter.config}
          values={draft.adapter_config}
          onChange={(adapter_config) => setDraft({ ...draft, adapter_config })}
          choices={NO_CHOICES}
          messages={messages}
          secretsSet={bot.secrets_set}
          disabled={!edit}
        />
        <ErrorNote error={saving.error} />
        {edit && (
          <div className="flex items-center gap-2">
            <Button type="submit" weight="primary" busy={saving.isPending}>{t("common.save")}</Button>
            {saving.isSuccess && <span role="status" className="text-sm text-good">{t("common.saved")}</span>}
            <span className="flex-1" />
            <Button weight="danger" onClick={() => setRemoving(true)}>{t("common.delete")}</Button>
          </div>
        )}
      </form>
      <Confirm
        open={removing}
        title={t("bots.deleteTitle", { name: bot.name })}
        text={t("bots.deleteText")}
        action={t("common.delete")}
        busy={deleting.isPending}
        error={deleting.error}
        onConfirm={() => deleting.mutate(undefined)}
        onClose={() => setRemoving(false)}
      />
    </Card>
  );
}
