// The page that connects a platform: the choice of an adapter, then its form.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Adapter, Fields } from "../../api/types";
import { Avatar } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { NO_CHOICES } from "../../components/form/controls";
import { SchemaForm } from "../../components/form/SchemaForm";
import { prefilled } from "../../components/form/values";
import { Card, PageBody } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { localized } from "../../lib/format";
import { useSave } from "../../lib/useSave";
import { HeardSwitch } from "./HeardSwitch";
import * as botQueries from "./queries";

export default function NewBotPage() {
  const { t, i18n } = useTranslation();
  const adapters = useQuery(botQueries.adapters);
  const [adapter, setAdapter] = useState<Adapter | null>(null);
  return (
    <PageBody title={t("bots.create")} text={t(adapter ? "bots.formText" : "bots.pickText")}>
      <ErrorMessage error={adapters.error} />
      {adapters.isPending && <Loading />}
      {!adapter && (
        <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
          {adapters.data?.map((each) => (
            <button
              key={each.name}
              type="button"
              onClick={() => setAdapter(each)}
              className="flex items-start gap-4 rounded-card border border-line bg-surface p-5 text-left shadow-card hover:border-accent"
            >
              <Avatar name={each.name} />
              <span className="min-w-0">
                <span className="block font-medium">{localized(each.label, i18n.language)}</span>
                <span className="mt-1 block text-sm text-quiet">{localized(each.description, i18n.language)}</span>
                {each.external && <span className="mt-1 block text-sm text-warn">{t("bots.external")}</span>}
              </span>
            </button>
          ))}
        </div>
      )}
      {adapter && <Form adapter={adapter} onBack={() => setAdapter(null)} />}
    </PageBody>
  );
}

function Form({ adapter, onBack }: { adapter: Adapter; onBack: () => void }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const items = adapter.config ?? [];
  const [name, setName] = useState(localized(adapter.label, i18n.language));
  const [config, setConfig] = useState<Fields>(() => prefilled(items, {}));
  const [keeps, setKeeps] = useState(true);
  const [initial] = useState({ name, config, keeps });
  const creating = useSave(
    () =>
      answer(
        api.POST("/api/v1/bots", {
          body: { name, adapter: adapter.name, adapter_config: config, enabled: true, keeps_heard_messages: keeps },
        }),
      ),
    ["bots"],
    (bot) => void navigate({ to: "/bots/$botId", params: { botId: bot.bot_id }, ignoreBlocker: true }),
  );
  const messages = Object.fromEntries(
    items.map((item) => [item.name, fieldMessage(creating.error, `adapter_config.${item.name}`)]),
  );
  return (
    <Card>
      <form
        className="max-w-2xl space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          creating.mutate(undefined);
        }}
      >
        {adapter.external && <p className="text-sm text-warn">{t("bots.externalText")}</p>}
        <LeaveGuard dirty={JSON.stringify({ name, config, keeps }) !== JSON.stringify(initial)} />
        <Field label={t("common.name")} required error={fieldMessage(creating.error, "name")}>
          {(control) => <Input {...control} required value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <SchemaForm items={items} values={config} onChange={setConfig} choices={NO_CHOICES} messages={messages} />
        <HeardSwitch checked={keeps} onChange={setKeeps} />
        <ErrorMessage error={creating.error} items={items} />
        <div className="flex gap-2">
          <Button type="submit" weight="primary" busy={creating.isPending}>
            {t("bots.connect")}
          </Button>
          <Button weight="quiet" onClick={onBack}>
            {t("common.back")}
          </Button>
        </div>
      </form>
    </Card>
  );
}
