// A question in front of the page, on the browser's own dialog: it keeps the focus and closes with Escape.
import { type ReactNode, useEffect, useId, useRef } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";
import { ErrorNote } from "./Notes";

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
  useEffect(() => {
    if (open && !ref.current?.open) ref.current?.showModal();
    if (!open) ref.current?.close();
  }, [open]);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      className="m-auto w-[min(32rem,calc(100vw-2rem))] rounded-card border border-line bg-surface p-6 text-ink shadow-card"
    >
      <h2 id={id} className="mb-4 text-lg font-semibold">{title}</h2>
      {open && children}
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
  /** The words of the button that changes nothing, where they are not "Cancel". */
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
      <ErrorNote error={error} />
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>{cancel ?? t("common.cancel")}</Button>
        <Button weight="danger" busy={busy} onClick={onConfirm}>{action}</Button>
      </div>
    </Dialog>
  );
}
