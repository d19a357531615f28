// The settings of a bot: its name and the form of its adapter.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Adapter, Bot } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { NO_CHOICES } from "../../components/form/controls";
import { SchemaForm } from "../../components/form/SchemaForm";
import { ofForm } from "../../components/form/values";
import { Card } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useBase, useSaveWithConflict } from "../../lib/useSaveWithConflict";
import { HeardSwitch } from "./HeardSwitch";
import * as botQueries from "./queries";

type Draft = Pick<Bot, "name" | "adapter_config" | "keeps_heard_messages">;

export function BotSettings({ current, adapter }: { current: Versioned<Bot>; adapter: Adapter }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const navigate = useNavigate();
  const [typed, setTyped] = useState<Draft | null>(null);
  const [times, setTimes] = useState(0);
  const base = useBase(current, typed !== null);
  const bot = base.value;
  const draft = typed ?? {
    name: bot.name,
    adapter_config: bot.adapter_config,
    keeps_heard_messages: bot.keeps_heard_messages,
  };
  const items = adapter.config ?? [];
  const path = { bot_id: bot.bot_id };
  const bodyOf = ({ name, adapter_config, keeps_heard_messages, enabled }: Draft & Pick<Bot, "enabled">) => ({
    name,
    adapter: bot.adapter,
    enabled,
    keeps_heard_messages,
    adapter_config: ofForm(items, adapter_config),
  });
  const saving = useSaveWithConflict({
    base,
    query: botQueries.bot(bot.bot_id),
    bodyOf,
    put: (body, over) => answer(api.PUT("/api/v1/bots/{bot_id}", { params: { path, header: ifMatch(over) }, body })),
    stale: ["bots"],
    after: () => begin(),
  });
  const begin = () => {
    setTyped(null);
    setTimes(times + 1); // resets controls that keep their own text
  };
  const messages = Object.fromEntries(
    items.map((item) => [item.name, fieldMessage(saving.error, `adapter_config.${item.name}`)]),
  );
  return (
    <Card>
      <form
        key={times}
        className="max-w-2xl space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          saving.save(bodyOf({ ...draft, enabled: bot.enabled }));
        }}
      >
        <LeaveGuard dirty={typed !== null} />
        <Field label={t("common.name")} required error={fieldMessage(saving.error, "name")}>
          {(control) => (
            <Input
              {...control}
              required
              value={draft.name}
              disabled={!edit}
              onChange={(event) => setTyped({ ...draft, name: event.target.value })}
            />
          )}
        </Field>
        <SchemaForm
          items={items}
          values={draft.adapter_config}
          onChange={(adapter_config) => setTyped({ ...draft, adapter_config })}
          choices={NO_CHOICES}
          messages={messages}
          secretsSet={bot.secrets_set}
          disabled={!edit}
        />
        <HeardSwitch
          checked={draft.keeps_heard_messages}
          onChange={(keeps_heard_messages) => setTyped({ ...draft, keeps_heard_messages })}
          disabled={!edit}
        />
        <ErrorMessage error={saving.error} items={items} />
        <ConflictNote
          name={bot.name}
          conflict={saving.conflict}
          busy={saving.isPending}
          items={items}
          onTheirs={() => {
            begin();
            saving.reset();
          }}
          onMine={saving.overwrite}
        />
        {edit ? (
          <div className="flex items-center gap-2">
            <Button type="submit" weight="primary" busy={saving.isPending} disabled={!typed}>
              {t("common.save")}
            </Button>
            {typed && (
              <Button
                weight="quiet"
                onClick={() => {
                  begin();
                  saving.reset();
                }}
              >
                {t("common.discard")}
              </Button>
            )}
            {!typed && saving.isSuccess && (
              <span role="status" className="text-sm text-good">
                {t("common.saved")}
              </span>
            )}
            <span className="flex-1" />
            <DeleteButton
              label={t("common.delete")}
              title={t("bots.deleteTitle", { name: bot.name })}
              text={t("bots.deleteText")}
              remove={() => answer(api.DELETE("/api/v1/bots/{bot_id}", { params: { path } }))}
              stale={["bots"]}
              after={() => void navigate({ to: "/bots", ignoreBlocker: true })}
            />
          </div>
        ) : (
          <p className="text-sm text-quiet">{t("common.readOnly")}</p>
        )}
      </form>
    </Card>
  );
}
