// A new provider: who it is, the key, and at once its first model, so that an agent can answer with it.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Provider } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import * as queries from "../../api/queries";
import { Button } from "../../components/Button";
import { Field, Input, Select } from "../../components/Field";
import { ErrorNote } from "../../components/Notes";
import { Card } from "../../components/Surfaces";
import { useSave } from "../../lib/useSave";

export function AddProvider({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const kinds = (useQuery(queries.kinds).data ?? []).filter((each) => each.kind !== "demo");
  const [chosen, setChosen] = useState("");
  const [given, setGiven] = useState({ key: "", url: "" });
  const kind = kinds.find((each) => each.kind === chosen) ?? kinds[0];
  const creating = useSave(
    () =>
      answer<Provider>(
        api.POST("/api/v1/model-providers", {
          body: { name: kind?.label ?? "", kind: kind?.kind ?? "", base_url: given.url, api_keys: given.key ? [given.key] : [] },
        }),
      ),
    ["providers", "models", "agents"],
    onDone,
  );
  if (!kind) return null;
  return (
    <Card title={t("models.addProvider")}>
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          creating.mutate(undefined);
        }}
      >
        <Field label={t("models.kind")}>
          {(control) => (
            <Select {...control} value={kind.kind} onChange={(event) => setChosen(event.target.value)}>
              {kinds.map((each) => <option key={each.kind} value={each.kind}>{each.label}</option>)}
            </Select>
          )}
        </Field>
        <Field
          label={t("models.key")}
          required={kind.needs_key}
          error={fieldMessage(creating.error, "api_keys")}
          hint={kind.key_page ? <a href={kind.key_page} target="_blank" rel="noopener noreferrer" className="text-accent underline">{t("models.keyPage")}</a> : t("models.keyOptional")}
        >
          {(control) => <Input {...control} type="password" autoComplete="off" required={kind.needs_key} value={given.key} onChange={(event) => setGiven({ ...given, key: event.target.value })} />}
        </Field>
        <Field label={t("models.url")} hint={t("models.urlHint")} required={!kind.base_url} error={fieldMessage(creating.error, "base_url")}>
          {(control) => <Input {...control} type="url" placeholder={kind.base_url || "https://"} required={!kind.base_url} value={given.url} onChange={(event) => setGiven({ ...given, url: event.target.value })} />}
        </Field>
        <ErrorNote error={creating.error} />
        <div className="flex gap-2">
          <Button type="submit" weight="primary" busy={creating.isPending}>{t("common.add")}</Button>
          <Button weight="quiet" onClick={onDone}>{t("common.cancel")}</Button>
        </div>
      </form>
    </Card>
  );
}
