// Adds an account for another user.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Role } from "../../api/types";
import { useMe } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { Card } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";
import { manageable } from "./roles";

const NOBODY = { email: "", name: "", password: "", role: "viewer" as Role };

export function AddPerson() {
  const { t } = useTranslation();
  const roles = manageable(useMe()?.role);
  const [draft, setDraft] = useState(NOBODY);
  const adding = useSave(
    () => answer(api.POST("/api/v1/users", { body: draft })),
    ["users"],
    () => setDraft(NOBODY),
  );
  const setField = (name: "email" | "name" | "password") => (event: React.ChangeEvent<HTMLInputElement>) =>
    setDraft({ ...draft, [name]: event.target.value });
  return (
    <Card title={t("settings.addPerson")}>
      <form
        className="grid gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          adding.mutate(undefined);
        }}
      >
        <LeaveGuard dirty={JSON.stringify(draft) !== JSON.stringify(NOBODY)} />
        <Field label={t("login.email")} required error={fieldMessage(adding.error, "email")}>
          {(control) => <Input {...control} type="email" required value={draft.email} onChange={setField("email")} />}
        </Field>
        <Field label={t("settings.personName")}>
          {(control) => <Input {...control} value={draft.name} onChange={setField("name")} />}
        </Field>
        <Field
          label={t("login.password")}
          hint={t("setup.passwordHint")}
          required
          error={fieldMessage(adding.error, "password")}
        >
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              required
              value={draft.password}
              onChange={setField("password")}
            />
          )}
        </Field>
        <Field label={t("settings.role")} hint={t(`roleText.${draft.role}`)}>
          {(control) => (
            <Select
              {...control}
              value={draft.role}
              onChange={(event) => setDraft({ ...draft, role: event.target.value as Role })}
            >
              {roles.map((role) => (
                <option key={role} value={role}>
                  {t(`role.${role}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="space-y-3 sm:col-span-2">
          <ErrorMessage error={adding.error} />
          <Button type="submit" weight="primary" busy={adding.isPending}>
            {t("common.add")}
          </Button>
        </div>
      </form>
    </Card>
  );
}
