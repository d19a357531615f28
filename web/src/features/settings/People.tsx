// Who may come in, and as what.
import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Role, User } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import * as queries from "../../api/queries";
import { useMe } from "../../app/session";
import { Button, IconButton } from "../../components/Button";
import { Field, Input, Select } from "../../components/Field";
import { Row, Rows } from "../../components/List";
import { ErrorNote } from "../../components/Notes";
import { Card } from "../../components/Surfaces";
import { useSave } from "../../lib/useSave";

const ROLES: Role[] = ["owner", "admin", "operator", "viewer"];

export function People() {
  const users = useQuery(queries.users);
  return (
    <div className="space-y-5">
      <ErrorNote error={users.error} />
      <Rows>{users.data?.map((user) => <Person key={user.user_id} user={user} />)}</Rows>
      <Add />
    </div>
  );
}

function Person({ user }: { user: User }) {
  const { t } = useTranslation();
  const me = useMe();
  const path = { params: { path: { user_id: user.user_id } } };
  const changing = useSave((role: Role) => answer(api.PUT("/api/v1/users/{user_id}", { ...path, body: { role } })), ["users"]);
  const deleting = useSave(() => answer(api.DELETE("/api/v1/users/{user_id}", path)), ["users"]);
  const own = me?.user_id === user.user_id;
  return (
    <Row
      title={user.name || user.email}
      text={<>{user.email}<ErrorNote error={changing.error ?? deleting.error} /></>}
      marks={
        <Select aria-label={t("settings.role")} fits disabled={own || changing.isPending} value={user.role} onChange={(event) => changing.mutate(event.target.value as Role)}>
          {ROLES.map((role) => <option key={role} value={role}>{t(`role.${role}`)}</option>)}
        </Select>
      }
      actions={!own && <IconButton label={t("common.delete")} onClick={() => deleting.mutate(undefined)}><Trash2 className="size-4" /></IconButton>}
    />
  );
}

function Add() {
  const { t } = useTranslation();
  const fresh = { email: "", name: "", password: "", role: "viewer" as Role };
  const [draft, setDraft] = useState(fresh);
  const adding = useSave(() => answer<User>(api.POST("/api/v1/users", { body: draft })), ["users"], () => setDraft(fresh));
  const put = (name: "email" | "name" | "password") => (event: React.ChangeEvent<HTMLInputElement>) => setDraft({ ...draft, [name]: event.target.value });
  return (
    <Card title={t("settings.addPerson")}>
      <form
        className="grid gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          adding.mutate(undefined);
        }}
      >
        <Field label={t("login.email")} required error={fieldMessage(adding.error, "email")}>
          {(control) => <Input {...control} type="email" required value={draft.email} onChange={put("email")} />}
        </Field>
        <Field label={t("setup.name")}>{(control) => <Input {...control} value={draft.name} onChange={put("name")} />}</Field>
        <Field label={t("login.password")} hint={t("setup.passwordHint")} required error={fieldMessage(adding.error, "password")}>
          {(control) => <Input {...control} type="password" autoComplete="new-password" required value={draft.password} onChange={put("password")} />}
        </Field>
        <Field label={t("settings.role")} hint={t(`roleText.${draft.role}`)}>
          {(control) => (
            <Select {...control} value={draft.role} onChange={(event) => setDraft({ ...draft, role: event.target.value as Role })}>
              {ROLES.map((role) => <option key={role} value={role}>{t(`role.${role}`)}</option>)}
            </Select>
          )}
        </Field>
        <div className="space-y-3 sm:col-span-2">
          <ErrorNote error={adding.error} />
          <Button type="submit" weight="primary" busy={adding.isPending}>{t("common.add")}</Button>
        </div>
      </form>
    </Card>
  );
}
