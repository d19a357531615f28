// A modal dialog based on the native element, which keeps the focus and closes with Escape; unsaved changes ask first.
import { createContext, type ReactNode, type SyntheticEvent, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";
import { ErrorMessage } from "./Feedback";

/** Set by the `LeaveGuard` of a form in the dialog; null outside any dialog. */
export const UnsavedInDialog = createContext<{ current: boolean } | null>(null);

export function Dialog({
  open,
  title,
  onClose,
  children,
}: {
  open: boolean;
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { t } = useTranslation();
  const unsaved = useRef(false);
  // The number of the question in front, 0 without one: a question may be asked while the last one still closes.
  const [questionNumber, setQuestionNumber] = useState(0);
  const questions = useRef(0);
  useEffect(() => {
    if (open && !ref.current?.open) ref.current?.showModal();
    if (!open) ref.current?.close();
  }, [open]);
  const askFirst = (event: SyntheticEvent | KeyboardEvent) => {
    if (!unsaved.current) return;
    event.preventDefault();
    questions.current += 1;
    setQuestionNumber(questions.current);
  };
  // Browsers let a page hold back only the first of two cancels without a click between them, so the key is caught
  // before it becomes one, wherever the focus is, unless another dialog is in front.
  useEffect(() => {
    if (!open) return;
    const onKey = (event: KeyboardEvent) => {
      const inFront = [...document.querySelectorAll("dialog[open]")].at(-1);
      if (event.key === "Escape" && inFront === ref.current) askFirst(event);
    };
    document.addEventListener("keydown", onKey, true);
    return () => document.removeEventListener("keydown", onKey, true);
  }, [open]);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={(event) => event.target === ref.current && onClose()}
      onCancel={(event) => event.target === ref.current && askFirst(event)}
      className="m-auto w-[min(32rem,calc(100vw-2rem))] rounded-card border border-line bg-surface p-6 text-ink shadow-card"
    >
      <h2 id={id} className="mb-4 text-lg font-semibold">
        {title}
      </h2>
      {open && <UnsavedInDialog value={unsaved}>{children}</UnsavedInDialog>}
      {open && questionNumber > 0 && (
        <Confirm
          key={questionNumber}
          open
          title={t("unsaved.title")}
          text={t("unsaved.text")}
          cancel={t("unsaved.stay")}
          action={t("unsaved.leave")}
          onConfirm={() => {
            setQuestionNumber(0);
            onClose();
          }}
          onClose={() => setQuestionNumber((now) => (now === questionNumber ? 0 : now))}
        />
      )}
    </dialog>
  );
}

export function Confirm({
  open,
  title,
  text,
  action,
  cancel,
  busy,
  error,
  onConfirm,
  onClose,
}: {
  open: boolean;
  title: string;
  text: string;
  action: string;
  /** The label of the cancel button, if it is not "Cancel". */
  cancel?: string;
  busy?: boolean;
  error?: unknown;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  return (
    <Dialog open={open} title={title} onClose={onClose}>
      <p className="mb-5 text-quiet">{text}</p>
      <ErrorMessage error={error} />
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>{cancel ?? t("common.cancel")}</Button>
        <Button weight="danger" busy={busy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
