// What is in a sandbox: its managed processes with the end of their logs, and its files, folder by folder.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { BoxSession } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Badge } from "../../components/Layout";
import { formatSize } from "../knowledge/size";
import * as boxQueries from "./queries";

export function SessionDetails({ session }: { session: BoxSession }) {
  const { t } = useTranslation();
  return (
    <div className="space-y-4">
      <p className="text-sm text-quiet">{t("box.sessionQuota", { quota: t(`boxQuota.${session.quota}`) })}</p>
      {session.process_list.length > 0 && (
        <ul aria-label={t("box.processes")} className="space-y-2">
          {session.process_list.map((process) => (
            <li key={process.process_id} className="space-y-1 text-sm">
              <div className="flex flex-wrap items-center gap-2">
                <Badge tone={process.status === "running" ? "good" : "calm"}>{t(`boxProcess.${process.status}`)}</Badge>
                <span className="font-mono wrap-anywhere">{process.command.join(" ")}</span>
              </div>
              {process.reason && <p className="text-warn">{process.reason}</p>}
              {process.stderr_preview && (
                <pre className="max-h-40 overflow-auto rounded-control bg-raised p-3 whitespace-pre-wrap wrap-anywhere">
                  {process.stderr_preview}
                </pre>
              )}
            </li>
          ))}
        </ul>
      )}
      <Files sessionId={session.session_id} />
    </div>
  );
}

function Files({ sessionId }: { sessionId: string }) {
  const { t, i18n } = useTranslation();
  const [path, setPath] = useState("/workspace");
  const files = useQuery(boxQueries.files(sessionId, path));
  return (
    <div className="space-y-2 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-mono wrap-anywhere">{path}</span>
        {path !== "/workspace" && (
          <Button onClick={() => setPath(path.slice(0, path.lastIndexOf("/")))}>{t("box.up")}</Button>
        )}
      </div>
      <ErrorMessage error={files.error} />
      {files.isPending && <Loading />}
      {files.data?.items.length === 0 && <p className="text-quiet">{t("box.noFiles")}</p>}
      <ul aria-label={t("box.files")}>
        {files.data?.items.map((file) => (
          <li key={file.name} className="flex flex-wrap items-center gap-3 py-0.5">
            {file.kind === "folder" ? (
              <button
                type="button"
                className="font-mono hover:underline"
                onClick={() => setPath(`${path}/${file.name}`)}
              >
                {file.name}/
              </button>
            ) : (
              <>
                <span className="font-mono wrap-anywhere">{file.name}</span>
                <span className="text-quiet">{formatSize(file.size, i18n.language)}</span>
              </>
            )}
          </li>
        ))}
      </ul>
      {!!files.data?.more && <p className="text-quiet">{t("box.moreFiles", { count: files.data.more })}</p>}
    </div>
  );
}
