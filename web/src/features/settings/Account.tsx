// The name and password of the current user.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, setToken } from "../../api/client";
import { useMe } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { Card } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";

export function Account() {
  const { t } = useTranslation();
  const me = useMe();
  const [name, setName] = useState(me?.name ?? "");
  const [password, setPassword] = useState("");
  const [current, setCurrent] = useState("");
  const saving = useSave(
    () =>
      answer(api.PUT("/api/v1/auth/me", { body: { name, current_password: current, ...(password && { password }) } })),
    ["me"],
    (changed) => {
      setToken(changed.csrf_token);
      setPassword("");
      setCurrent("");
    },
  );
  return (
    <Card>
      <form
        className="max-w-md space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate(undefined);
        }}
      >
        <LeaveGuard dirty={password !== "" || name !== (me?.name ?? "")} />
        <Field label={t("setup.name")}>
          {(control) => (
            <Input {...control} autoComplete="name" value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label={t("settings.newPassword")} hint={t("settings.newPasswordHint")}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        {password && (
          <Field label={t("settings.currentPassword")} required>
            {(control) => (
              <Input
                {...control}
                type="password"
                autoComplete="current-password"
                required
                value={current}
                onChange={(event) => setCurrent(event.target.value)}
              />
            )}
          </Field>
        )}
        <ErrorMessage error={saving.error} />
        <div className="flex items-center gap-3">
          <Button type="submit" weight="primary" busy={saving.isPending}>
            {t("common.save")}
          </Button>
          {saving.isSuccess && (
            <span role="status" className="text-sm text-good">
              {t("common.saved")}
            </span>
          )}
        </div>
      </form>
    </Card>
  );
}
