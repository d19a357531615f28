// The files of a base, with a zone to drop further ones and the progress of each.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileText, FileUp, RotateCw } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, upload } from "../../api/client";
import type { KnowledgeFile } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { Card, State } from "../../components/Layout";
import { classes } from "../../lib/classes";
import { localized } from "../../lib/format";
import { formatSize } from "./size";
import { useSave } from "../../lib/useSave";
import * as knowledgeQueries from "./queries";

/** Uploads that run at the same time. */
const PARALLEL = 2;

type Refusal = { name: string; error: unknown };

export function FileList({ kbId, edit, takesFiles }: { kbId: string; edit: boolean; takesFiles: boolean }) {
  const { t } = useTranslation();
  const [pages, setPages] = useState(1);
  const files = useQuery(knowledgeQueries.files(kbId, pages));
  return (
    <div className="space-y-5">
      {edit && takesFiles && <DropZone kbId={kbId} />}
      {edit && takesFiles && <WebPageForm kbId={kbId} />}
      {!takesFiles && <p className="text-quiet">{t("knowledge.filesElsewhere")}</p>}
      <ErrorMessage error={files.error} />
      {files.isPending && <Loading />}
      {takesFiles && files.data?.items.length === 0 && <p className="text-quiet">{t("knowledge.noFiles")}</p>}
      <ul
        className="divide-y divide-line rounded-card border border-line bg-surface empty:hidden"
        aria-label={t("knowledge.filesTab")}
      >
        {files.data?.items.map((file) => (
          <FileRow key={file.file_id} file={file} edit={edit} />
        ))}
      </ul>
      {files.data?.more && <Button onClick={() => setPages(pages + 1)}>{t("knowledge.more")}</Button>}
    </div>
  );
}

function DropZone({ kbId }: { kbId: string }) {
  const { t, i18n } = useTranslation();
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [sending, setSending] = useState(0);
  const [refusals, setRefusals] = useState<Refusal[]>([]);
  const parsers = useQuery(knowledgeQueries.parsers);
  const [parser, setParser] = useState("");
  const send = async (chosen: Iterable<File>) => {
    const waiting = [...chosen];
    setRefusals([]);
    setSending((now) => now + waiting.length);
    const worker = async () => {
      for (let file = waiting.shift(); file; file = waiting.shift()) {
        const form = new FormData();
        form.set("file", file, file.name);
        if (parser) form.set("parser", parser);
        try {
          await upload(`/api/v1/knowledge-bases/${kbId}/files`, form);
        } catch (error) {
          const { name } = file;
          setRefusals((now) => [...now, { name, error }]);
        }
        setSending((now) => now - 1);
        void client.invalidateQueries({ queryKey: ["knowledge", kbId] });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
  };
  return (
    <div>
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void send(event.dataTransfer.files);
        }}
        className={classes(
          "flex flex-col items-center gap-3 rounded-card border-2 border-dashed p-6 text-center",
          over ? "border-accent bg-accent-wash" : "border-line",
        )}
      >
        <FileUp aria-hidden className="size-7 text-quiet" />
        <p className="text-sm text-quiet">{t("knowledge.drop")}</p>
        <Button busy={sending > 0} onClick={() => input.current?.click()}>
          {sending > 0 ? t("knowledge.sending", { count: sending }) : t("knowledge.choose")}
        </Button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={t("knowledge.choose")}
          onChange={(event) => {
            void send(event.target.files ?? []);
            event.target.value = "";
          }}
        />
      </div>
      {parsers.data && parsers.data.length > 0 && (
        <div className="mt-3 max-w-sm">
          <Field label={t("knowledge.parser")} hint={t("knowledge.parserHint")}>
            {(control) => (
              <Select {...control} value={parser} onChange={(event) => setParser(event.target.value)}>
                <option value="">{t("knowledge.parserOfFormat")}</option>
                <option value="builtin">{t("knowledge.builtinParser")}</option>
                {parsers.data.map((each) => (
                  <option key={each.parser} value={each.parser}>
                    {localized(each.label, i18n.language) || each.parser} ({each.extensions.join(", ")})
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
      )}
      <ul className="mt-3 space-y-2 empty:hidden">
        {refusals.map(({ name, error }, index) => (
          <li key={index}>
            <span className="text-sm font-medium wrap-anywhere">{name}</span>
            <ErrorMessage error={error} mild />
          </li>
        ))}
      </ul>
    </div>
  );
}

function WebPageForm({ kbId }: { kbId: string }) {
  const { t } = useTranslation();
  const [url, setUrl] = useState("");
  const [days, setDays] = useState("");
  const adding = useSave(
    () =>
      answer(
        api.POST("/api/v1/knowledge-bases/{kb_id}/files", {
          params: { path: { kb_id: kbId } },
          body: { url, refresh_days: days ? Number(days) : null } as never,
          bodySerializer: JSON.stringify,
          headers: { "Content-Type": "application/json" },
        }),
      ),
    ["knowledge"],
    () => setUrl(""),
  );
  return (
    <Card>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          adding.mutate();
        }}
      >
        <Field label={t("knowledge.webPage")} hint={t("knowledge.webPageHint")}>
          {(control) => (
            <Input
              {...control}
              type="url"
              required
              placeholder="https://"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("knowledge.refresh")}>
          {(control) => (
            <Select {...control} value={days} onChange={(event) => setDays(event.target.value)}>
              {["", "1", "7", "30"].map((each) => (
                <option key={each} value={each}>
                  {each ? t("knowledge.everyDays", { count: Number(each) }) : t("knowledge.never")}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <ErrorMessage error={adding.error} />
        <Button type="submit" busy={adding.isPending} disabled={!url}>
          {t("knowledge.addPage")}
        </Button>
      </form>
    </Card>
  );
}

function FileRow({ file, edit }: { file: KnowledgeFile; edit: boolean }) {
  const { t, i18n } = useTranslation();
  const { kb_id, file_id, name } = file;
  const path = { params: { path: { kb_id, file_id } } };
  const again = useSave(
    () => answer(api.POST("/api/v1/knowledge-bases/{kb_id}/files/{file_id}/retry", path)),
    ["knowledge"],
  );
  const busy = file.status === "pending" || file.status === "processing";
  return (
    <li className="space-y-2 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <FileText aria-hidden className="size-5 shrink-0 text-quiet" />
        <div className="min-w-0 flex-1 basis-48">
          <Link
            to="/knowledge/$kbId/files/$fileId"
            params={{ kbId: kb_id, fileId: file_id }}
            className="font-medium wrap-anywhere hover:underline"
          >
            {name}
          </Link>
          <div className="text-sm text-quiet">
            {[
              formatSize(file.size_bytes, i18n.language),
              file.pages && t("knowledge.pages", { count: file.pages }),
              file.chunks > 0 && t("knowledge.passages", { count: file.chunks }),
              file.refresh_days && t("knowledge.everyDays", { count: file.refresh_days }),
            ]
              .filter(Boolean)
              .join(" · ")}
          </div>
        </div>
        <State state={file.status} />
        {edit && !busy && (
          <IconButton label={t("knowledge.again", { name })} disabled={again.isPending} onClick={() => again.mutate()}>
            <RotateCw className="size-4" />
          </IconButton>
        )}
        {edit && (
          <DeleteButton
            icon
            label={t("models.delete", { name })}
            title={t("knowledge.deleteTitle", { name })}
            text={t("knowledge.deleteFileText")}
            remove={() => answer(api.DELETE("/api/v1/knowledge-bases/{kb_id}/files/{file_id}", path))}
            stale={["knowledge"]}
          />
        )}
      </div>
      {busy && (
        <div>
          <progress
            className="h-1.5 w-full accent-accent"
            max={100}
            value={file.progress}
            aria-label={t("knowledge.progress", { name })}
          />
          <div className="text-xs text-quiet">
            {t(`knowledge.stage.${file.stage ?? "waiting"}`)} {file.progress} %
          </div>
        </div>
      )}
      {file.error && (
        <div className="text-sm text-bad" role="status">
          {i18n.exists(`knowledge.code.${file.error.code.replace(".", "_")}`)
            ? t(`knowledge.code.${file.error.code.replace(".", "_")}`)
            : file.error.message}{" "}
          <code className="text-xs">{file.error.code}</code>
        </div>
      )}
      <ErrorMessage error={again.error} mild />
    </li>
  );
}
