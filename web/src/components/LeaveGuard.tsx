// Asks before a form with unsaved changes is left: by a link, the back button, closing the tab, or Escape in a dialog.
import { useBlocker } from "@tanstack/react-router";
import { useContext, useEffect } from "react";
import { useTranslation } from "react-i18next";

import { Confirm, UnsavedInDialog } from "./Dialog";

type Place = { pathname: string; search: unknown };

const tabOf = ({ search }: Place) => (search as { tab?: string }).tab;

/** Changing the tab leaves a form too, unless it spans all of them. */
export const leaves = (current: Place, next: Place, spansTabs: boolean): boolean =>
  current.pathname !== next.pathname || (!spansTabs && tabOf(current) !== tabOf(next));

export function LeaveGuard({ dirty, spansTabs = false }: { dirty: boolean; spansTabs?: boolean }) {
  const { t } = useTranslation();
  const inDialog = useContext(UnsavedInDialog);
  useEffect(() => {
    if (!inDialog) return;
    inDialog.current = dirty;
    return () => {
      inDialog.current = false;
    };
  }, [inDialog, dirty]);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && leaves(current, next, spansTabs),
    enableBeforeUnload: dirty,
    withResolver: true,
  });
  return (
    <Confirm
      open={blocker.status === "blocked"}
      title={t("unsaved.title")}
      text={t("unsaved.text")}
      cancel={t("unsaved.stay")}
      action={t("unsaved.leave")}
      onConfirm={() => blocker.proceed?.()}
      onClose={() => blocker.reset?.()}
    />
  );
}
