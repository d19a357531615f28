// The form of a provider: name, keys and address. A new one adds its first model, so that an agent can use it.
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned, versioned } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { ModelKind, Provider } from "../../api/types";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { FormSnapshot } from "../../components/FormSnapshot";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSaveWithConflict } from "../../lib/useSaveWithConflict";
import { KeyList } from "./KeyList";
import * as modelQueries from "./queries";

type Draft = { name: string; base_url: string; api_keys: string[]; model: string | null };

const firstOf = (kind: ModelKind): string => kind.models.find((model) => model.type === "llm")?.name ?? "";

type Done = (provider?: Provider) => void;

const bodyOf = ({ name, kind, base_url, api_keys }: Pick<Provider, "name" | "kind" | "base_url" | "api_keys">) => ({
  name,
  kind,
  base_url,
  api_keys: api_keys.filter(Boolean),
});

export function ProviderForm({ provider, onDone }: { provider?: Provider; onDone: Done }) {
  if (!provider) return <Form opened={null} onDone={onDone} />;
  return (
    <FormSnapshot query={modelQueries.provider(provider.provider_id)}>
      {(opened, reopen) => <Form opened={opened} onTheirs={reopen} onDone={onDone} />}
    </FormSnapshot>
  );
}

function Form({
  opened,
  onTheirs,
  onDone,
}: {
  opened: Versioned<Provider> | null;
  onTheirs?: (theirs: Versioned<Provider>) => void;
  onDone: Done;
}) {
  const { t } = useTranslation();
  const provider = opened?.value;
  const kinds = (useQuery(modelQueries.kinds).data ?? []).filter((each) => each.kind !== "demo");
  const [kindName, setKindName] = useState(provider?.kind ?? "");
  const [draft, setDraft] = useState<Draft>({ name: "", base_url: "", api_keys: [], ...provider, model: null });
  const [initial] = useState(draft);
  const [saved, setSaved] = useState(opened);
  const kind = kinds.find((each) => each.kind === kindName) ?? kinds[0];
  const model = kind && !provider ? (draft.model ?? firstOf(kind)) : "";
  const saving = useSaveWithConflict({
    base: saved,
    query: saved && modelQueries.provider(saved.value.provider_id),
    bodyOf: (each: Provider) => bodyOf(each),
    put: async (body, over) => {
      const path = over && { params: { path: { provider_id: over.value.provider_id }, header: ifMatch(over) } };
      const stored = await versioned(
        path
          ? api.PUT("/api/v1/model-providers/{provider_id}", { ...path, body })
          : api.POST("/api/v1/model-providers", { body }),
      );
      setSaved(stored); // the provider was created: only the model was refused, and the provider must not be created twice
      const { provider_id } = stored.value;
      if (model)
        await answer(api.POST("/api/v1/models", { body: { provider_id, name: model, type: "llm", parameters: {} } }));
      return stored.value;
    },
    stale: ["providers", "models", "agents", "info"],
    after: onDone,
  });
  if (!kind) return null;
  const update = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  return (
    <form
      className="max-w-2xl space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        saving.save(bodyOf({ ...draft, name: draft.name || kind.label, kind: kind.kind }));
      }}
    >
      <LeaveGuard dirty={!saving.isSuccess && JSON.stringify(draft) !== JSON.stringify(initial)} />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("models.kind")} error={fieldMessage(saving.error, "kind")}>
          {(control) => (
            <Select
              {...control}
              value={kind.kind}
              disabled={!!saved}
              onChange={(event) => {
                setKindName(event.target.value);
                update({ model: null });
              }}
            >
              {kinds.map((each) => (
                <option key={each.kind} value={each.kind}>
                  {each.label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t("common.name")} error={fieldMessage(saving.error, "name")}>
          {(control) => (
            <Input
              {...control}
              placeholder={kind.label}
              value={draft.name}
              onChange={(event) => update({ name: event.target.value })}
            />
          )}
        </Field>
      </div>
      <Field
        label={t("models.key")}
        required={kind.needs_key}
        error={fieldMessage(saving.error, "api_keys")}
        hint={<KeyHint kind={kind} />}
      >
        {(control) => (
          <KeyList
            control={control}
            value={draft.api_keys}
            required={kind.needs_key}
            onChange={(api_keys) => update({ api_keys })}
          />
        )}
      </Field>
      <Field
        label={t("models.url")}
        hint={kind.base_url ? t("models.urlHint") : undefined}
        required={!kind.base_url}
        error={fieldMessage(saving.error, "base_url")}
      >
        {(control) => (
          <Input
            {...control}
            type="url"
            placeholder={kind.base_url || "https://api.example.org/v1"}
            required={!kind.base_url}
            value={draft.base_url}
            onChange={(event) => update({ base_url: event.target.value })}
          />
        )}
      </Field>
      {!provider && <FirstModel kind={kind} value={model} onChange={(name) => update({ model: name })} />}
      <ErrorMessage error={saving.error} />
      {onTheirs && (
        <ConflictNote
          name={draft.name}
          conflict={saving.conflict}
          busy={saving.isPending}
          onTheirs={onTheirs}
          onMine={saving.overwrite}
        />
      )}
      <div className="flex gap-2">
        <Button type="submit" weight="primary" busy={saving.isPending}>
          {t(provider ? "common.save" : "common.add")}
        </Button>
        <Button weight="quiet" onClick={() => onDone()}>
          {t("common.cancel")}
        </Button>
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
        {(control) => (
          <Input {...control} list={suggestions} value={value} onChange={(event) => onChange(event.target.value)} />
        )}
      </Field>
      <datalist id={suggestions}>
        {kind.models
          .filter((each) => each.type === "llm")
          .map((each) => (
            <option key={each.name} value={each.name} />
          ))}
      </datalist>
    </>
  );
}

function KeyHint({ kind }: { kind: ModelKind }) {
  const { t } = useTranslation();
  if (!kind.key_page) return t("models.keyOptional");
  return (
    <a href={kind.key_page} target="_blank" rel="noopener noreferrer" className="text-accent underline">
      {t("models.keyPage")}
    </a>
  );
}
