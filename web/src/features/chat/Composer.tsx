// The message input. Enter sends; during a run, a message steers it, and the run can be stopped.
import { ArrowUp, Paperclip, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { IconButton } from "../../components/Button";
import { classes } from "../../lib/classes";
import { read, write } from "../../lib/localStorage";
import { Uploads } from "./Files";
import type { Chat } from "./useChat";
import type { useUploads } from "./useUploads";

export function Composer({
  name,
  chat,
  held,
  narrow,
}: {
  name: string;
  chat: Chat;
  held: ReturnType<typeof useUploads>;
  narrow?: boolean;
}) {
  const { t } = useTranslation();
  const [text, setText] = useDraft(name);
  const running = chat.state.running !== null;
  const ready = (text.trim() !== "" || held.uploads.length > 0) && held.isReady;
  const send = () => {
    if (!ready) return;
    chat.send(text.trim(), held.take());
    setText("");
  };
  return (
    <form
      className={classes("mx-auto w-full px-4 pb-4", !narrow && "max-w-3xl sm:px-6")}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {!chat.connected && (
        <p role="status" className="pb-2 text-center text-sm text-warn">
          {t("chat.offline")}
        </p>
      )}
      <div className="rounded-2xl border border-edge/60 bg-surface p-2 shadow-card focus-within:border-accent focus-within:outline-2 focus-within:outline-accent/30">
        <Uploads held={held} />
        <textarea
          aria-label={t("chat.placeholder")}
          placeholder={t(running ? "chat.steer" : "chat.placeholder")}
          rows={1}
          autoFocus={!narrow && matchMedia("(pointer: fine)").matches}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            held.add(event.clipboardData.files);
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape" && running) chat.cancel();
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              send();
            }
          }}
          className="field-sizing-content max-h-48 min-h-9 w-full resize-none bg-transparent px-2 py-1.5 outline-none placeholder:text-quiet"
        />
        <div className="flex items-center gap-1">
          <Chooser add={held.add} />
          <span className="flex-1 truncate px-1 text-xs text-quiet max-sm:hidden">
            {t(running ? "chat.keysRunning" : "chat.keys")}
          </span>
          {running && (
            <IconButton
              label={t("chat.stop")}
              disabled={!chat.connected}
              onClick={chat.cancel}
              className="ml-auto text-bad!"
            >
              <Square className="size-4 fill-current" />
            </IconButton>
          )}
          <IconButton
            type="submit"
            label={t("chat.send")}
            disabled={!ready}
            className="ml-auto rounded-full bg-accent! text-accent-ink! hover:opacity-90"
          >
            <ArrowUp className="size-4.5" />
          </IconButton>
        </div>
      </div>
    </form>
  );
}

function Chooser({ add }: { add: (files: Iterable<File>) => void }) {
  const { t } = useTranslation();
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          add(event.target.files ?? []);
          event.target.value = "";
        }}
      />
      <IconButton label={t("chat.attach")} onClick={() => chooser.current?.click()}>
        <Paperclip className="size-4.5" />
      </IconButton>
    </>
  );
}

/** The unsent text survives a reload. */
function useDraft(name: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => read(`draft.${name}`) ?? "");
  useEffect(() => setText(read(`draft.${name}`) ?? ""), [name]);
  return [
    text,
    (next) => {
      setText(next);
      write(`draft.${name}`, next);
    },
  ];
}
