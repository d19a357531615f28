// The settings of a base: name, how files are cut, how it is searched, and its embedding.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Fields, FormItem, KnowledgeBase } from "../../api/types";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select, TextArea } from "../../components/Field";
import { SchemaForm } from "../../components/form/SchemaForm";
import { LeaveGuard } from "../../components/LeaveGuard";
import { NumberInput } from "../../components/NumberInput";
import { useSaveWithConflict } from "../../lib/useSaveWithConflict";
import * as modelQueries from "../models/queries";
import { BUILTIN, formMessages } from "./engines";
import { useChoices } from "../agents/useChoices";
import * as knowledgeQueries from "./queries";
import type { Retrieval } from "./retrieval";
import { RetrievalFields } from "./RetrievalFields";

type Draft = {
  name: string;
  description: string;
  emoji: string;
  settings: { chunker: string; chunk_size: number; overlap: number; retrieval: Retrieval };
  embedding: { model_id: string } | null;
  store: string;
  engine: string;
  engine_config: Fields;
  engine_settings: Fields;
};

const CHUNKERS = ["general", "qa", "rows"];

const draftOf = ({ name, description, emoji, settings, embedding, ...base }: KnowledgeBase): Draft => {
  const model = embedding.next_model_id === undefined ? embedding.model_id : embedding.next_model_id;
  return {
    name,
    description,
    emoji,
    settings: settings as Draft["settings"],
    embedding: model ? { model_id: model } : null,
    store: base.next_store ?? base.store,
    engine: base.engine,
    engine_config: base.engine_config,
    engine_settings: base.engine_settings,
  };
};

export function BaseSettings({ opened, edit }: { opened: Versioned<KnowledgeBase>; edit: boolean }) {
  const { t } = useTranslation();
  const [base, setBase] = useState(opened);
  const [draft, setDraft] = useState(() => draftOf(opened.value));
  const { kb_id } = opened.value;
  const saving = useSaveWithConflict({
    base,
    query: knowledgeQueries.base(kb_id),
    bodyOf: draftOf,
    put: (body, over) =>
      answer(
        api.PUT("/api/v1/knowledge-bases/{kb_id}", {
          params: { path: { kb_id }, header: ifMatch(over) },
          body: body as never,
        }),
      ),
    stale: ["knowledge"],
    after: () => undefined,
  });
  const update = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const dirty = JSON.stringify(draft) !== JSON.stringify(draftOf(base.value));
  return (
    <form
      className="max-w-2xl space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        saving.save(draft);
      }}
    >
      <LeaveGuard dirty={dirty && !saving.isSuccess} />
      <fieldset disabled={!edit} className="space-y-5">
        <Field label={t("common.name")} required error={fieldMessage(saving.error, "name")}>
          {(control) => (
            <Input
              {...control}
              required
              maxLength={200}
              value={draft.name}
              onChange={(event) => update({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={t("common.description")} hint={t("knowledge.descriptionHint")}>
          {(control) => (
            <TextArea
              {...control}
              rows={2}
              value={draft.description}
              onChange={(event) => update({ description: event.target.value })}
            />
          )}
        </Field>
        {draft.engine === BUILTIN ? (
          <BuiltinFields draft={draft} update={update} error={saving.error} />
        ) : (
          <EngineFields draft={draft} update={update} error={saving.error} />
        )}
      </fieldset>
      <ConflictNote
        name={opened.value.name}
        conflict={saving.conflict}
        busy={saving.isPending}
        onMine={saving.overwrite}
        onTheirs={(theirs) => {
          saving.reset();
          setBase(theirs);
          setDraft(draftOf(theirs.value));
        }}
      />
      <ErrorMessage error={saving.error} />
      {edit && (
        <Button type="submit" weight="primary" busy={saving.isPending} disabled={!dirty}>
          {t("common.save")}
        </Button>
      )}
    </form>
  );
}

type Part = { draft: Draft; update: (change: Partial<Draft>) => void; error: unknown };

/** Embedding, store, and how files are cut and found. */
function BuiltinFields({ draft, update, error }: Part) {
  const { t } = useTranslation();
  const models = useQuery(modelQueries.models);
  const set = (change: Partial<Draft["settings"]>) => update({ settings: { ...draft.settings, ...change } });
  return (
    <>
      <Field
        label={t("knowledge.embedding")}
        hint={t("knowledge.embeddingHint")}
        error={fieldMessage(error, "embedding.model_id")}
      >
        {(control) => (
          <Select
            {...control}
            value={draft.embedding?.model_id ?? ""}
            onChange={(event) => update({ embedding: event.target.value ? { model_id: event.target.value } : null })}
          >
            <option value="">{t("knowledge.offline")}</option>
            {models.data
              ?.filter((model) => model.type === "embedding")
              .map((model) => (
                <option key={model.model_id} value={model.model_id}>
                  {model.name}
                </option>
              ))}
          </Select>
        )}
      </Field>
      <StoreField value={draft.store} error={fieldMessage(error, "store")} onChange={(store) => update({ store })} />
      <h2 className="pt-2 font-semibold">{t("knowledge.cutting")}</h2>
      <Field label={t("knowledge.chunker")}>
        {(control) => (
          <Select
            {...control}
            value={draft.settings.chunker}
            onChange={(event) => set({ chunker: event.target.value })}
          >
            {CHUNKERS.map((chunker) => (
              <option key={chunker} value={chunker}>
                {t(`knowledge.chunkers.${chunker}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        {(
          [
            ["chunk_size", 50, 2000],
            ["overlap", 0, 500],
          ] as const
        ).map(([name, min, max]) => (
          <Field key={name} label={t(`knowledge.${name}`)}>
            {(control) => (
              <NumberInput
                control={control}
                min={min}
                max={max}
                whole
                value={draft.settings[name]}
                onChange={(value) => !Number.isNaN(value) && set({ [name]: value })}
              />
            )}
          </Field>
        ))}
      </div>
      <p className="text-sm text-quiet">{t("knowledge.cuttingHint")}</p>
      <h2 className="pt-2 font-semibold">{t("knowledge.searching")}</h2>
      <RetrievalFields value={draft.settings.retrieval} onChange={(retrieval) => set({ retrieval })} />
    </>
  );
}

/** The forms of the engine of a plugin. */
function EngineFields({ draft, update, error }: Part) {
  const { t } = useTranslation();
  const engines = useQuery(knowledgeQueries.engines);
  const choices = useChoices();
  const engine = engines.data?.find((each) => each.engine === draft.engine);
  if (engines.data && !engine)
    return <ErrorMessage error={new Error(t("knowledge.engineGone", { engine: draft.engine }))} />;
  const config = (engine?.config_schema ?? []) as FormItem[];
  const retrieval = (engine?.retrieval_schema ?? []) as FormItem[];
  return (
    <>
      <SchemaForm
        items={config}
        values={draft.engine_config}
        onChange={(engine_config) => update({ engine_config })}
        choices={choices}
        messages={formMessages(config, error, "engine_config")}
      />
      {retrieval.length > 0 && <h2 className="pt-2 font-semibold">{t("knowledge.searching")}</h2>}
      <SchemaForm
        items={retrieval}
        values={draft.engine_settings}
        onChange={(engine_settings) => update({ engine_settings })}
        choices={choices}
        messages={formMessages(retrieval, error, "settings")}
      />
    </>
  );
}

/** The vector store; those that can't be used say what they lack. */
function StoreField(props: { value: string; error: string | undefined; onChange: (store: string) => void }) {
  const { t } = useTranslation();
  const stores = useQuery(knowledgeQueries.stores);
  const missing = stores.data?.filter((store) => store.problem !== null && store.name !== props.value) ?? [];
  return (
    <>
      <Field label={t("knowledge.store")} hint={t("knowledge.storeHint")} error={props.error}>
        {(control) => (
          <Select {...control} value={props.value} onChange={(event) => props.onChange(event.target.value)}>
            {stores.data
              ?.filter((store) => !missing.includes(store))
              .map((store) => (
                <option key={store.name} value={store.name}>
                  {t(`knowledge.stores.${store.name}`)}
                </option>
              ))}
          </Select>
        )}
      </Field>
      {missing.length > 0 && (
        <details className="text-sm text-quiet">
          <summary className="cursor-pointer">{t("knowledge.otherStores")}</summary>
          <ul className="mt-2 list-disc space-y-1 pl-5">
            {missing.map((store) => (
              <li key={store.name}>
                {t(`knowledge.stores.${store.name}`)}: {store.problem}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
