// The knowledge bases: what each holds, and a form to add one.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Fields, FormItem, KnowledgeBase } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { SchemaForm } from "../../components/form/SchemaForm";
import { ofForm, prefilled } from "../../components/form/values";
import { Badge, Card, PageBody } from "../../components/Layout";
import { localized } from "../../lib/format";
import { BUILTIN, formMessages } from "./engines";
import { formatSize } from "./size";
import { useSave } from "../../lib/useSave";
import { useChoices } from "../agents/useChoices";
import * as knowledgeQueries from "./queries";

export default function KnowledgePage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const bases = useQuery(knowledgeQueries.bases);
  const [adding, setAdding] = useState(false);
  return (
    <PageBody
      title={t("nav.knowledge")}
      text={t("knowledge.text")}
      actions={
        edit &&
        !adding && (
          <Button weight="primary" onClick={() => setAdding(true)}>
            {t("knowledge.add")}
          </Button>
        )
      }
    >
      <div className="space-y-6">
        {adding && <NewBase onCancel={() => setAdding(false)} />}
        <ErrorMessage error={bases.error} />
        {bases.isPending && <Loading />}
        {bases.data?.length === 0 && !adding && (
          <Card>
            <p className="text-quiet">{t("knowledge.none")}</p>
          </Card>
        )}
        <ul className="grid gap-4 @2xl:grid-cols-2">
          {bases.data?.map((base) => (
            <BaseCard key={base.kb_id} base={base} />
          ))}
        </ul>
      </div>
    </PageBody>
  );
}

function BaseCard({ base }: { base: KnowledgeBase }) {
  const { t, i18n } = useTranslation();
  return (
    <li className="rounded-card border border-line bg-surface p-5 shadow-card">
      <h2 className="font-semibold wrap-anywhere">
        <Link to="/knowledge/$kbId" params={{ kbId: base.kb_id }} className="hover:underline">
          {base.emoji} {base.name}
        </Link>
      </h2>
      {base.description && <p className="mt-1 text-sm text-quiet wrap-anywhere">{base.description}</p>}
      <div className="mt-3 flex flex-wrap gap-2">
        {base.problem && <Badge tone="bad">{t("knowledge.unavailable")}</Badge>}
        {base.status !== "ready" && <Badge tone="warn">{t(`knowledge.status.${base.status}`)}</Badge>}
        <Badge>{t("knowledge.files", { count: base.files })}</Badge>
        <Badge>{t("knowledge.passages", { count: base.chunks })}</Badge>
        <Badge>{formatSize(base.bytes, i18n.language)}</Badge>
        {base.used_by.length > 0 && (
          <Badge tone="accent">{t("knowledge.usedBy", { names: base.used_by.join(", ") })}</Badge>
        )}
      </div>
    </li>
  );
}

function NewBase({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { i18n } = useTranslation();
  const engines = useQuery(knowledgeQueries.engines);
  const choices = useChoices();
  const [name, setName] = useState("");
  const [engine, setEngine] = useState(BUILTIN);
  const [config, setConfig] = useState<Fields>({});
  const form = (engines.data?.find((each) => each.engine === engine)?.config_schema ?? []) as FormItem[];
  const values = prefilled(form, config);
  const saving = useSave(
    () =>
      answer(
        api.POST("/api/v1/knowledge-bases", { body: { name, engine, engine_config: ofForm(form, values) } as never }),
      ),
    ["knowledge"],
    (base) => void navigate({ to: "/knowledge/$kbId", params: { kbId: base.kb_id } }),
  );
  return (
    <Card title={t("knowledge.add")}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <Field label={t("common.name")} required error={fieldMessage(saving.error, "name")}>
          {(control) => (
            <Input
              {...control}
              required
              autoFocus
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        {engines.data && engines.data.length > 0 && (
          <Field label={t("knowledge.engine")} hint={t("knowledge.engineHint")}>
            {(control) => (
              <Select
                {...control}
                value={engine}
                onChange={(event) => {
                  setEngine(event.target.value);
                  setConfig({});
                }}
              >
                <option value={BUILTIN}>{t("knowledge.builtinEngine")}</option>
                {engines.data.map((each) => (
                  <option key={each.engine} value={each.engine}>
                    {localized(each.label, i18n.language) || each.engine}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <SchemaForm
          key={engine}
          items={form}
          values={values}
          onChange={setConfig}
          choices={choices}
          messages={formMessages(form, saving.error, "engine_config")}
        />
        <ErrorMessage error={saving.error} />
        <div className="flex gap-2">
          <Button type="submit" weight="primary" busy={saving.isPending}>
            {t("common.create")}
          </Button>
          <Button onClick={onCancel}>{t("common.cancel")}</Button>
        </div>
      </form>
    </Card>
  );
}
