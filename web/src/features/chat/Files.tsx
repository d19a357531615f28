// The files of a message: stored images are shown, other files are download links.
import { FileText, LoaderCircle, RotateCw, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { IconButton } from "../../components/Button";
import { useErrorText } from "../../components/Feedback";
import { within } from "../../lib/base";
import { classes } from "../../lib/classes";
import type { FileRef } from "./chatState";
import type { Upload, useUploads } from "./useUploads";

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function Files({ files }: { files: FileRef[] }) {
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2">
      {files.map((file) => (
        <li key={file.artifact_id}>
          <FileItem file={file} />
        </li>
      ))}
    </ul>
  );
}

function FileItem({ file }: { file: FileRef }) {
  const address = within(`/api/v1/artifacts/${encodeURIComponent(file.artifact_id)}/content`);
  if (file.mime_type && SHOWN.has(file.mime_type)) {
    return (
      <a href={address} target="_blank" rel="noopener noreferrer">
        <img
          src={address}
          alt={file.name}
          loading="lazy"
          className="max-h-64 max-w-full rounded-control border border-line"
        />
      </a>
    );
  }
  return (
    <a
      href={address}
      download={file.name}
      className="inline-flex max-w-full items-center gap-2 rounded-control border border-line bg-surface px-3 py-2 text-sm hover:bg-raised"
    >
      <FileText aria-hidden className="size-4 shrink-0 text-quiet" />
      <span className="truncate">{file.name}</span>
    </a>
  );
}

/** The files of a message that is being written. */
export function Uploads({ held }: { held: ReturnType<typeof useUploads> }) {
  if (held.uploads.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-1.5 px-1 pb-2">
      {held.uploads.map((each) => (
        <UploadItem key={each.id} upload={each} again={() => held.again(each)} remove={() => held.remove(each)} />
      ))}
    </ul>
  );
}

function UploadItem({ upload, again, remove }: { upload: Upload; again: () => void; remove: () => void }) {
  const { t } = useTranslation();
  const sentence = useErrorText();
  const { file, preview, sent, error } = upload;
  return (
    <li
      className={classes(
        "flex max-w-full items-center gap-2 rounded-control py-1 pr-1 pl-2.5 text-sm",
        error ? "bg-bad-wash text-bad" : "bg-raised",
      )}
    >
      {preview && <img src={preview} alt="" className="-ml-1.5 size-8 rounded object-cover" />}
      {!sent && !error && <LoaderCircle aria-label={t("chat.uploading")} className="size-4 animate-spin text-quiet" />}
      <span className="min-w-0">
        <span className="block max-w-48 truncate">{file.name}</span>
        {!!error && (
          <span role="alert" className="block max-w-72 text-xs break-words">
            {sentence(error)}
          </span>
        )}
      </span>
      {!!error && (
        <IconButton label={t("common.again")} className="size-7" onClick={again}>
          <RotateCw className="size-3.5" />
        </IconButton>
      )}
      <IconButton label={t("chat.removeFile", { name: file.name })} className="size-7" onClick={remove}>
        <X className="size-3.5" />
      </IconButton>
    </li>
  );
}
