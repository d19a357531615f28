// A provider: who it is, its keys, its address. A new one brings its first model, so that an agent can answer with it.
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Model, ModelKind, Provider } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import * as queries from "../../api/queries";
import { Button } from "../../components/Button";
import { Field, Input, Select } from "../../components/Field";
import { ErrorNote } from "../../components/Notes";
import { useSave } from "../../lib/useSave";
import { KeyList } from "./KeyList";

type Draft = { name: string; base_url: string; api_keys: string[]; model: string | null };

const firstOf = (kind: ModelKind): string => kind.models.find((model) => model.type === "llm")?.name ?? "";

export function ProviderForm({ provider, onDone }: { provider?: Provider; onDone: (provider?: Provider) => void }) {
  const { t } = useTranslation();
  const kinds = (useQuery(queries.kinds).data ?? []).filter((each) => each.kind !== "demo");
  const [chosen, setChosen] = useState(provider?.kind ?? "");
  const [draft, setDraft] = useState<Draft>({ name: "", base_url: "", api_keys: [], ...provider, model: null });
  const [made, setMade] = useState(provider);
  const kind = kinds.find((each) => each.kind === chosen) ?? kinds[0];
  const model = kind && !provider ? (draft.model ?? firstOf(kind)) : "";
  const saving = useSave(
    async () => {
      const body = { name: draft.name || kind!.label, kind: kind!.kind, base_url: draft.base_url, api_keys: draft.api_keys.filter(Boolean) };
      const path = made && { params: { path: { provider_id: made.provider_id } } };
      const kept = await answer<Provider>(path ? api.PUT("/api/v1/model-providers/{provider_id}", { ...path, body }) : api.POST("/api/v1/model-providers", { body }));
      setMade(kept); // what is refused now is the model: the provider is there and not made twice
      if (model) await answer<Model>(api.POST("/api/v1/models", { body: { provider_id: kept.provider_id, name: model, type: "llm", parameters: {} } }));
      return kept;
    },
    ["providers", "models", "agents"],
    onDone,
  );
  if (!kind) return null;
  const put = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  return (
    <form
      className="max-w-2xl space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(undefined);
      }}
    >
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("models.kind")} error={fieldMessage(saving.error, "kind")}>
          {(control) => (
            <Select {...control} value={kind.kind} disabled={!!made} onChange={(event) => { setChosen(event.target.value); put({ model: null }); }}>
              {kinds.map((each) => <option key={each.kind} value={each.kind}>{each.label}</option>)}
            </Select>
          )}
        </Field>
        <Field label={t("common.name")} error={fieldMessage(saving.error, "name")}>
          {(control) => <Input {...control} placeholder={kind.label} value={draft.name} onChange={(event) => put({ name: event.target.value })} />}
        </Field>
      </div>
      <Field label={t("models.key")} required={kind.needs_key} error={fieldMessage(saving.error, "api_keys")} hint={<KeyHint kind={kind} />}>
        {(control) => <KeyList control={control} value={draft.api_keys} required={kind.needs_key} onChange={(api_keys) => put({ api_keys })} />}
      </Field>
      <Field label={t("models.url")} hint={kind.base_url ? t("models.urlHint") : undefined} required={!kind.base_url} error={fieldMessage(saving.error, "base_url")}>
        {(control) => <Input {...control} type="url" placeholder={kind.base_url || "https://api.example.org/v1"} required={!kind.base_url} value={draft.base_url} onChange={(event) => put({ base_url: event.target.value })} />}
      </Field>
      {!provider && <FirstModel kind={kind} value={model} onChange={(name) => put({ model: name })} />}
      <ErrorNote error={saving.error} />
      <div className="flex gap-2">
        <Button type="submit" weight="primary" busy={saving.isPending}>{t(provider ? "common.save" : "common.add")}</Button>
        <Button weight="quiet" onClick={() => onDone()}>{t("common.cancel")}</Button>
      </div>
    </form>
  );
}

function FirstModel({ kind, value, onChange }: { kind: ModelKind; value: string; onChange: (name: string) => void }) {
  const { t } = useTranslation();
  const suggestions = useId();
  return (
    <>
      <Field label={t("models.first")} hint={t("models.firstHint")}>
        {(control) => <Input {...control} list={suggestions} value={value} onChange={(event) => onChange(event.target.value)} />}
      </Field>
      <datalist id={suggestions}>{kind.models.filter((each) => each.type === "llm").map((each) => <option key={each.name} value={each.name} />)}</datalist>
    </>
  );
}

function KeyHint({ kind }: { kind: ModelKind }) {
  const { t } = useTranslation();
  if (!kind.key_page) return t("models.keyOptional");
  return <a href={kind.key_page} target="_blank" rel="noopener noreferrer" className="text-accent underline">{t("models.keyPage")}</a>;
}
