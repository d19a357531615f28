// Tries the search of a base: as it is set, beside other settings.
import { useState } from "react";
import { Link } from "@tanstack/react-router";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Fields, FormItem, KnowledgeBase, KnowledgeSearch } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { SchemaForm } from "../../components/form/SchemaForm";
import { Badge, Card } from "../../components/Layout";
import { BUILTIN } from "./engines";
import { useChoices } from "../agents/useChoices";
import * as knowledgeQueries from "./queries";
import { RetrievalFields } from "./RetrievalFields";
import type { Retrieval } from "./retrieval";

export function SearchTest({ base }: { base: KnowledgeBase }) {
  const { t } = useTranslation();
  const saved = base.settings.retrieval as Retrieval;
  const [query, setQuery] = useState("");
  const isBuiltin = base.engine === BUILTIN;
  const [other, setOther] = useState<Retrieval>({ ...saved, mode: "full_text" });
  const [engineSettings, setEngineSettings] = useState<Fields>(base.engine_settings);
  const engines = useQuery({ ...knowledgeQueries.engines, enabled: !isBuiltin });
  const engine = engines.data?.find((each) => each.engine === base.engine);
  const choices = useChoices();
  const search = useMutation({
    mutationFn: () => {
      const ask = (settings: Retrieval | Fields) =>
        answer(
          api.POST("/api/v1/knowledge-bases/{kb_id}/search", {
            params: { path: { kb_id: base.kb_id } },
            body: { query, explain: true, settings } as never,
          }),
        );
      return Promise.all(isBuiltin ? [ask(saved), ask(other)] : [ask(base.engine_settings), ask(engineSettings)]);
    },
  });
  return (
    <div className="space-y-5">
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          search.mutate();
        }}
      >
        <div className="min-w-0 flex-1 basis-72">
          <Field label={t("knowledge.question")}>
            {(control) => (
              <Input {...control} required value={query} onChange={(event) => setQuery(event.target.value)} />
            )}
          </Field>
        </div>
        <Button type="submit" weight="primary" busy={search.isPending}>
          {t("knowledge.search")}
        </Button>
      </form>
      <ErrorMessage error={search.error} />
      <div className="grid gap-5 @3xl:grid-cols-2">
        <Card title={t("knowledge.asSet")}>
          {isBuiltin && <p className="mb-4 text-sm text-quiet">{t(`knowledge.mode.${saved.mode}`)}</p>}
          {search.data && <Results kbId={base.kb_id} result={search.data[0]} />}
        </Card>
        <Card title={t("knowledge.otherwise")}>
          <div className="mb-4">
            {isBuiltin ? (
              <RetrievalFields value={other} onChange={setOther} />
            ) : (
              <SchemaForm
                items={(engine?.retrieval_schema ?? []) as FormItem[]}
                values={engineSettings}
                onChange={setEngineSettings}
                choices={choices}
              />
            )}
          </div>
          {search.data && <Results kbId={base.kb_id} result={search.data[1]} />}
        </Card>
      </div>
    </div>
  );
}

function Results({ kbId, result }: { kbId: string; result: KnowledgeSearch }) {
  const { t } = useTranslation();
  return (
    <div role="status">
      {result.notes.map((note) => (
        <p key={note} className="mb-2 text-sm text-warn">
          {t(`knowledge.note.${note}`)}
        </p>
      ))}
      {result.items.length === 0 && <p className="text-quiet">{t("knowledge.nothing")}</p>}
      <ol className="space-y-4">
        {result.items.map((item) => (
          <li key={item.chunk_id} className="border-t border-line pt-3 first:border-0 first:pt-0">
            <div className="mb-1 flex flex-wrap items-center gap-2 text-sm">
              <Badge tone="accent">{item.score.toFixed(2)}</Badge>
              <Source kbId={kbId} item={item} />
              {item.parts && item.parts.engine === undefined && (
                <span className="text-xs text-quiet">
                  {t("knowledge.parts", {
                    vector: (item.parts.vector ?? 0).toFixed(2),
                    words: (item.parts.words ?? 0).toFixed(2),
                  })}
                </span>
              )}
            </div>
            {item.heading && <div className="text-xs text-quiet">{item.heading}</div>}
            <p className="line-clamp-6 text-sm whitespace-pre-line wrap-anywhere">{item.text}</p>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Where a passage is from; documents of other systems can't be opened here. */
function Source({ kbId, item }: { kbId: string; item: KnowledgeSearch["items"][number] }) {
  const { t } = useTranslation();
  const name = item.file_name + (item.page ? `, ${t("knowledge.page", { page: item.page })}` : "");
  if (!item.file_id) return <span className="min-w-0 font-medium wrap-anywhere">{name}</span>;
  return (
    <Link
      to="/knowledge/$kbId/files/$fileId"
      params={{ kbId, fileId: item.file_id }}
      search={{ chunk: item.chunk_id }}
      className="min-w-0 font-medium wrap-anywhere hover:underline"
    >
      {name}
    </Link>
  );
}
