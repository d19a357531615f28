// Sets a new password for a user who forgot theirs.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { User } from "../../api/types";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";

export function NewPassword({
  user,
  title,
  open,
  onClose,
}: {
  user: User;
  title: string;
  open: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog open={open} title={title} onClose={onClose}>
      <PasswordForm user={user} onDone={onClose} />
    </Dialog>
  );
}

function PasswordForm({ user, onDone }: { user: User; onDone: () => void }) {
  const { t } = useTranslation();
  const [password, setPassword] = useState("");
  const saving = useSave(
    () =>
      answer(api.PUT("/api/v1/users/{user_id}", { params: { path: { user_id: user.user_id } }, body: { password } })),
    ["users"],
    onDone,
  );
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(undefined);
      }}
    >
      <LeaveGuard dirty={password !== ""} />
      <Field
        label={t("settings.newPassword")}
        hint={t("setup.passwordHint")}
        error={fieldMessage(saving.error, "password")}
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="new-password"
            autoFocus
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <p className="text-sm text-quiet">{t("settings.passwordText")}</p>
      <ErrorMessage error={saving.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t("common.cancel")}</Button>
        <Button type="submit" weight="primary" busy={saving.isPending}>
          {t("common.save")}
        </Button>
      </div>
    </form>
  );
}
