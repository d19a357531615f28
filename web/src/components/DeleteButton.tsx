// A button that deletes something after a confirmation, which also shows the error if the Host refuses.
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useSave } from "../lib/useSave";
import { Button, IconButton } from "./Button";
import { Confirm } from "./Dialog";

export function DeleteButton({
  label,
  title,
  text,
  action,
  keep,
  icon,
  remove,
  stale,
  after,
}: {
  label: string;
  title: string;
  text: string;
  /** The label of the action, if it is not "Delete". */
  action?: string;
  /** The label of the cancel button, if it is not "Cancel". */
  keep?: string;
  icon?: boolean;
  remove: () => Promise<unknown>;
  stale: string[];
  after?: () => void;
}) {
  const { t } = useTranslation();
  const [confirming, setConfirming] = useState(false);
  const deleting = useSave(remove, stale, () => {
    setConfirming(false);
    after?.();
  });
  const close = () => {
    setConfirming(false);
    deleting.reset();
  };
  return (
    <>
      {icon ? (
        <IconButton label={label} onClick={() => setConfirming(true)}>
          <Trash2 className="size-4" />
        </IconButton>
      ) : (
        <Button weight="danger" onClick={() => setConfirming(true)}>
          {label}
        </Button>
      )}
      <Confirm
        open={confirming}
        title={title}
        text={text}
        action={action ?? t("common.delete")}
        cancel={keep}
        busy={deleting.isPending}
        error={deleting.error}
        onConfirm={() => deleting.mutate(undefined)}
        onClose={close}
      />
    </>
  );
}
