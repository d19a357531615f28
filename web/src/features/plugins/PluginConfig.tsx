// The form of a plugin's own configuration. Saving restarts the plugin.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Fields } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { SchemaForm } from "../../components/form/SchemaForm";
import { ofForm } from "../../components/form/values";
import { useSave } from "../../lib/useSave";
import { useChoices } from "../agents/useChoices";
import * as pluginQueries from "./queries";
import { PLUGIN_KEYS } from "./queryKeys";

export function PluginConfig({ id }: { id: string }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const choices = useChoices();
  const [typed, setTyped] = useState<Fields | null>(null);
  const [times, setTimes] = useState(0);
  const config = useQuery(pluginQueries.pluginConfig(id));
  const [author = "", name = ""] = id.split("/");
  const current = config.data;
  const items = current?.value.config_schema ?? [];
  const saving = useSave(
    (values: Fields) =>
      answer(
        api.PUT("/api/v1/plugins/{author}/{name}/config", {
          params: { path: { author, name }, header: current ? ifMatch(current) : undefined },
          body: { config: ofForm(items, values) },
        }),
      ),
    PLUGIN_KEYS,
    () => {
      setTyped(null);
      setTimes(times + 1); // resets controls that keep their own text
    },
  );
  if (config.error) return <ErrorMessage error={config.error} />;
  if (!current) return <Loading />;
  const values = typed ?? current.value.config;
  const messages = Object.fromEntries(
    items.map((item) => [item.name, fieldMessage(saving.error, `config.${item.name}`)]),
  );
  return (
    <form
      key={times}
      className="max-w-2xl space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(values);
      }}
    >
      <SchemaForm
        items={items}
        values={values}
        onChange={setTyped}
        choices={choices}
        messages={messages}
        disabled={!edit}
      />
      <ErrorMessage error={saving.error} items={items} />
      {edit ? (
        <div className="flex items-center gap-2">
          <Button type="submit" weight="primary" busy={saving.isPending} disabled={!typed}>
            {t("plugins.saveConfig")}
          </Button>
          {!typed && saving.isSuccess && (
            <span role="status" className="text-sm text-good">
              {t("common.saved")}
            </span>
          )}
        </div>
      ) : (
        <p className="text-sm text-quiet">{t("common.readOnly")}</p>
      )}
    </form>
  );
}
