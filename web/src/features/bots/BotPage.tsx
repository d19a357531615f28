// The page of one bot: connection, routes, events, default agents and settings.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { isGone } from "../../api/problem";
import type { Adapter, Bot } from "../../api/types";
import { NotFoundPage } from "../../app/ErrorPages";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, PageBody, State } from "../../components/Layout";
import { Switch } from "../../components/Switch";
import { Tabs } from "../../components/Tabs";
import { formatTime, localized } from "../../lib/format";
import { usePatchField } from "../../lib/usePatchField";
import { PreviewChat } from "../previews/PreviewChat";
import { BotAddresses } from "./BotAddresses";
import { BotEvents } from "./BotEvents";
import { BotSettings } from "./BotSettings";
import { DefaultAgents } from "./DefaultAgents";
import { LoginCard } from "./LoginCard";
import * as botQueries from "./queries";
import { RoutesEditor } from "./RoutesEditor";

export default function BotPage() {
  const { t, i18n } = useTranslation();
  const { botId } = useParams({ from: "/authenticated/bots/$botId" });
  const bot = useQuery(botQueries.bot(botId));
  const adapters = useQuery(botQueries.adapters);
  const problem = bot.error ?? adapters.error;
  if (isGone(problem)) return <NotFoundPage />;
  if (problem)
    return (
      <div className="p-8">
        <ErrorMessage error={problem} />
      </div>
    );
  if (!bot.data || !adapters.data)
    return (
      <div className="p-8">
        <Loading />
      </div>
    );
  const current = bot.data.value;
  const adapter = adapters.data.find((each) => each.name === current.adapter);
  if (!adapter)
    return (
      <div className="p-8">
        <ErrorMessage error={new Error(t("bots.adapterGone", { name: current.adapter }))} />
      </div>
    );
  return (
    <PageBody
      name={current.name}
      title={<Title bot={current} />}
      text={localized(adapter.label, i18n.language)}
      actions={<OnOff current={bot.data} />}
    >
      <Trouble current={bot.data} adapter={adapter} />
      <Login bot={current} adapter={adapter} />
      <Tabs
        tabs={[
          {
            id: "routes",
            label: t("bots.routes"),
            content: <RoutesEditor key={botId} botId={botId} adapter={adapter} />,
          },
          { id: "defaults", label: t("defaultAgents.title"), content: <DefaultAgents bot={current} /> },
          {
            id: "preview",
            label: t("previews.title"),
            content: <PreviewChat key={botId} target={{ kind: "bot", id: botId }} />,
          },
          { id: "events", label: t("bots.events"), content: <BotEvents botId={botId} /> },
          {
            id: "settings",
            label: t("nav.settings"),
            content: (
              <div className="space-y-5">
                <BotAddresses bot={current} adapter={adapter} />
                <BotSettings key={botId} current={bot.data} adapter={adapter} />
              </div>
            ),
          },
        ]}
      />
    </PageBody>
  );
}

function Title({ bot }: { bot: Bot }) {
  const { t, i18n } = useTranslation();
  const since =
    bot.status.since && bot.enabled ? t("bots.since", { at: formatTime(bot.status.since, i18n.language) }) : "";
  return (
    <span className="flex flex-wrap items-center gap-3">
      {bot.name}
      <span title={since} className="inline-flex">
        {bot.enabled ? <State state={bot.status.state} /> : <Badge>{t("common.disabled")}</Badge>}
      </span>
    </span>
  );
}

/** Saves a bot; a bot that failed is connected again by that. */
function useKeeping(current: Versioned<Bot>) {
  return usePatchField({
    current,
    query: botQueries.bot(current.value.bot_id),
    field: () => "enabled",
    put: (enabled: boolean, over) => {
      const { bot_id, name, adapter, adapter_config, keeps_heard_messages } = over.value;
      return answer(
        api.PUT("/api/v1/bots/{bot_id}", {
          params: { path: { bot_id }, header: ifMatch(over) },
          body: { name, adapter, adapter_config, keeps_heard_messages, enabled },
        }),
      );
    },
    stale: ["bots"],
  });
}

function Trouble({ current, adapter }: { current: Versioned<Bot>; adapter: Adapter }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const bot = current.value;
  const retained = useKeeping(current);
  const failed = bot.status.state === "failed";
  if (!bot.enabled) return <p className="mb-5 text-sm text-quiet">{t("bots.enabledHint")}</p>;
  if (!bot.status.last_error) return null;
  return (
    <div className="mb-5 space-y-2">
      <ErrorMessage error={retained.error ?? new Error(bot.status.last_error)} mild={!failed} items={adapter.config} />
      {failed && edit && (
        <Button small busy={retained.isPending} onClick={() => retained.mutate(true)}>
          {t("common.again")}
        </Button>
      )}
    </div>
  );
}

/** The login of a platform without a token to enter, while the bot has none or its session has ended. */
function Login({ bot, adapter }: { bot: Bot; adapter: Adapter }) {
  const { edit } = useRights();
  const [begun, setBegun] = useState(false);
  const needed = !bot.secrets_set.includes("token") || bot.status.state === "failed";
  if (needed && !begun) setBegun(true);
  if (!adapter.login || !edit || !bot.enabled || !begun) return null;
  return (
    <div className="mb-5">
      <LoginCard bot={bot} />
    </div>
  );
}

function OnOff({ current }: { current: Versioned<Bot> }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const switching = useKeeping(current);
  return (
    <div className="space-y-2">
      <div className="flex h-10 items-center gap-2 text-sm">
        <Switch
          label={t("common.enabled")}
          checked={current.value.enabled}
          disabled={!edit || switching.isPending}
          onChange={(enabled) => switching.mutate(enabled)}
        />
        {t("common.enabled")}
      </div>
      <ErrorMessage error={switching.error} />
    </div>
  );
}
