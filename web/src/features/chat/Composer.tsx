// The place to write. Enter sends; while a run is under way, what is sent steers it, and it can be stopped.
import { useMutation } from "@tanstack/react-query";
import { ArrowUp, Paperclip, Square, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { upload } from "../../api/client";
import { IconButton } from "../../components/Button";
import { ErrorNote } from "../../components/Notes";
import { classes } from "../../lib/classes";
import { keep, kept } from "../../lib/keeping";
import type { Attachment, useChat } from "./useChat";

export function Composer({ agentId, chat, narrow }: { agentId: string; chat: ReturnType<typeof useChat>; narrow?: boolean }) {
  const { t } = useTranslation();
  const [text, setText] = useDraft(agentId);
  const [files, setFiles] = useState<Attachment[]>([]);
  const chooser = useRef<HTMLInputElement>(null);
  const sending = useMutation({
    mutationFn: (file: File) => {
      const form = new FormData();
      form.append("file", file);
      return upload<Attachment>("/api/v1/files", form);
    },
    onSuccess: ({ artifact_id, name, mime_type, size_bytes }) => setFiles((before) => [...before, { artifact_id, name, mime_type, size_bytes }]),
  });
  const ready = (text.trim() !== "" || files.length > 0) && !sending.isPending;
  const send = () => {
    if (!ready) return;
    chat.say(text.trim(), files);
    setText("");
    setFiles([]);
  };
  return (
    <form
      className={classes("mx-auto w-full px-4 pb-4", !narrow && "max-w-3xl sm:px-6")}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <ErrorNote error={sending.error} />
      {!chat.connected && <p role="status" className="pb-2 text-center text-sm text-warn">{t("chat.offline")}</p>}
      <div className="rounded-2xl border border-edge/60 bg-surface p-2 shadow-card focus-within:outline-2 focus-within:outline-accent">
        {files.length > 0 && (
          <ul className="flex flex-wrap gap-1.5 px-2 pb-1">
            {files.map((file) => (
              <li key={file.artifact_id} className="flex items-center rounded-control bg-raised pl-2.5 text-sm">
                {file.name}
                <IconButton label={t("common.remove")} className="size-7" onClick={() => setFiles(files.filter((each) => each !== file))}>
                  <X className="size-3.5" />
                </IconButton>
              </li>
            ))}
          </ul>
        )}
        <textarea
          aria-label={t("chat.placeholder")}
          placeholder={t(chat.log.running ? "chat.steer" : "chat.placeholder")}
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              send();
            }
          }}
          className="field-sizing-content max-h-48 min-h-9 w-full resize-none bg-transparent px-2 py-1.5 outline-none placeholder:text-quiet"
        />
        <div className="flex items-center gap-1">
          <input
            ref={chooser}
            type="file"
            hidden
            onChange={(event) => {
              const file = event.target.files?.[0];
              if (file) sending.mutate(file);
              event.target.value = "";
            }}
          />
          <IconButton label={t("chat.attach")} disabled={sending.isPending} onClick={() => chooser.current?.click()}>
            <Paperclip className="size-4.5" />
          </IconButton>
          <span className="flex-1" />
          {chat.log.running && (
            <IconButton label={t("chat.stop")} onClick={chat.cancel} className="text-bad">
              <Square className="size-4 fill-current" />
            </IconButton>
          )}
          <IconButton type="submit" label={t("chat.send")} disabled={!ready} className="bg-accent text-accent-ink hover:bg-accent hover:text-accent-ink hover:opacity-90">
            <ArrowUp className="size-4.5" />
          </IconButton>
        </div>
      </div>
    </form>
  );
}

/** What was typed and not sent survives a reload. */
function useDraft(agentId: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => kept(`draft.${agentId}`) ?? "");
  useEffect(() => setText(kept(`draft.${agentId}`) ?? ""), [agentId]);
  return [
    text,
    (next) => {
      setText(next);
      keep(`draft.${agentId}`, next);
    },
  ];
}
