// The passages of one file: the one that a citation names is marked; each can be changed and switched off.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { Pencil } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { isGone } from "../../api/problem";
import type { KnowledgeChunk } from "../../api/types";
import { NotFoundPage } from "../../app/ErrorPages";
import { useRights } from "../../app/session";
import { Button, buttonClasses, IconButton } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Field, TextArea } from "../../components/Field";
import { Badge, PageBody, State } from "../../components/Layout";
import { Switch } from "../../components/Switch";
import { within } from "../../lib/base";
import { classes } from "../../lib/classes";
import { useSave } from "../../lib/useSave";
import * as knowledgeQueries from "./queries";

/** Passages that are shown at first, and with each further step. */
const STEP = 50;

export default function FilePage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const { kbId, fileId } = useParams({ from: "/authenticated/knowledge/$kbId/files/$fileId" });
  const { chunk: cited } = useSearch({ from: "/authenticated/knowledge/$kbId/files/$fileId" });
  const file = useQuery(knowledgeQueries.file(kbId, fileId));
  const chunks = useQuery(knowledgeQueries.chunks(kbId, fileId));
  const [shown, setShown] = useState(STEP);
  if (isGone(file.error)) return <NotFoundPage />;
  if (!file.data) return <div className="p-8">{file.error ? <ErrorMessage error={file.error} /> : <Loading />}</div>;
  const place = chunks.data?.findIndex((chunk) => chunk.chunk_id === cited) ?? -1;
  const count = Math.max(shown, place + 1);
  return (
    <PageBody
      title={file.data.name}
      text={
        <Link to="/knowledge/$kbId" params={{ kbId }} className="hover:underline">
          {t("knowledge.back")}
        </Link>
      }
      actions={
        file.data.artifact_id && (
          <a className={buttonClasses()} href={within(`/api/v1/knowledge-bases/${kbId}/files/${fileId}/content`)}>
            {t("knowledge.original")}
          </a>
        )
      }
    >
      <div className="mb-5 flex flex-wrap gap-2">
        <State state={file.data.status} />
        <Badge>{t("knowledge.passages", { count: file.data.chunks })}</Badge>
      </div>
      {cited && chunks.data && place < 0 && <p className="mb-4 text-warn">{t("knowledge.passageGone")}</p>}
      <ErrorMessage error={chunks.error} />
      {chunks.isPending && <Loading />}
      <ol className="space-y-3">
        {chunks.data?.slice(0, count).map((chunk) => (
          <Passage key={chunk.chunk_id} kbId={kbId} chunk={chunk} edit={edit} cited={chunk.chunk_id === cited} />
        ))}
      </ol>
      {chunks.data && chunks.data.length > count && (
        <Button className="mt-4" onClick={() => setShown(count + STEP)}>
          {t("knowledge.more")}
        </Button>
      )}
      {edit && file.data.status === "completed" && <NewPassage kbId={kbId} fileId={fileId} />}
    </PageBody>
  );
}

function Passage({ kbId, chunk, edit, cited }: { kbId: string; chunk: KnowledgeChunk; edit: boolean; cited: boolean }) {
  const { t } = useTranslation();
  const row = useRef<HTMLLIElement>(null);
  const [text, setText] = useState<string>();
  useEffect(() => {
    if (cited) row.current?.scrollIntoView?.({ block: "center" });
  }, [cited]);
  const number = chunk.position + 1;
  const change = useSave(
    (body: { text?: string; enabled?: boolean }) =>
      answer(
        api.PATCH("/api/v1/knowledge-bases/{kb_id}/files/{file_id}/chunks/{chunk_id}", {
          params: { path: { kb_id: kbId, file_id: chunk.file_id, chunk_id: chunk.chunk_id } },
          body,
        }),
      ),
    ["knowledge"],
    () => setText(undefined),
  );
  return (
    <li
      ref={row}
      aria-current={cited || undefined}
      className={classes(
        "rounded-card border bg-surface p-4",
        cited ? "border-accent bg-accent-wash" : "border-line",
        !chunk.enabled && "opacity-60",
      )}
    >
      <div className="mb-2 flex flex-wrap items-center gap-2 text-sm text-quiet">
        <span className="font-medium">{number}</span>
        {chunk.page && <span>{t("knowledge.page", { page: chunk.page })}</span>}
        {chunk.heading && <span className="min-w-0 flex-1 truncate">{chunk.heading}</span>}
        {chunk.origin !== "file" && <Badge>{t(`knowledge.origin.${chunk.origin}`)}</Badge>}
        {edit && (
          <span className="ml-auto flex items-center gap-2">
            <Switch
              label={t("knowledge.enabled", { number })}
              checked={chunk.enabled}
              disabled={change.isPending}
              onChange={(enabled) => change.mutate({ enabled })}
            />
            <IconButton label={t("knowledge.editPassage", { number })} onClick={() => setText(chunk.text)}>
              <Pencil className="size-4" />
            </IconButton>
          </span>
        )}
      </div>
      {text === undefined ? (
        <p className="text-sm whitespace-pre-line wrap-anywhere">{chunk.text}</p>
      ) : (
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ text });
          }}
        >
          <Field label={t("knowledge.passageText")}>
            {(control) => (
              <TextArea {...control} required rows={6} value={text} onChange={(event) => setText(event.target.value)} />
            )}
          </Field>
          <div className="flex gap-2">
            <Button type="submit" weight="primary" busy={change.isPending}>
              {t("common.save")}
            </Button>
            <Button onClick={() => setText(undefined)}>{t("common.cancel")}</Button>
          </div>
        </form>
      )}
      <ErrorMessage error={change.error} mild />
    </li>
  );
}

function NewPassage({ kbId, fileId }: { kbId: string; fileId: string }) {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  const adding = useSave(
    () =>
      answer(
        api.POST("/api/v1/knowledge-bases/{kb_id}/files/{file_id}/chunks", {
          params: { path: { kb_id: kbId, file_id: fileId } },
          body: { text, heading: "" },
        }),
      ),
    ["knowledge"],
    () => setText(""),
  );
  return (
    <form
      className="mt-6 space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        adding.mutate();
      }}
    >
      <Field label={t("knowledge.addPassage")} hint={t("knowledge.addPassageHint")}>
        {(control) => <TextArea {...control} rows={3} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <ErrorMessage error={adding.error} />
      <Button type="submit" busy={adding.isPending} disabled={!text.trim()}>
        {t("common.add")}
      </Button>
    </form>
  );
}
