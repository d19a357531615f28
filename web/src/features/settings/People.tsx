// The users and their roles.
import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Role, User } from "../../api/types";
import { useMe } from "../../app/session";
import { IconButton } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Select } from "../../components/Field";
import { Badge } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { Switch } from "../../components/Switch";
import { useSave } from "../../lib/useSave";
import { AddPerson } from "./AddPerson";
import { NewPassword } from "./NewPassword";
import * as settingsQueries from "./queries";
import { manageable, ROLES } from "./roles";

export function People() {
  const users = useQuery(settingsQueries.users);
  return (
    <div className="space-y-5">
      <ErrorMessage error={users.error} />
      {users.isPending && <Loading />}
      <Rows>
        {users.data?.map((user) => (
          <Person key={user.user_id} user={user} />
        ))}
      </Rows>
      <AddPerson />
    </div>
  );
}

function Person({ user }: { user: User }) {
  const { t } = useTranslation();
  const me = useMe();
  const changing = useSave(
    (change: { role?: Role; enabled?: boolean }) =>
      answer(api.PUT("/api/v1/users/{user_id}", { params: { path: { user_id: user.user_id } }, body: change })),
    ["users"],
  );
  const isSelf = me?.user_id === user.user_id;
  const roles = manageable(me?.role);
  const fixed = isSelf || !roles.includes(user.role);
  const name = user.name || user.email;
  return (
    <Row
      title={
        <span className="flex flex-wrap items-center gap-2">
          {name} {isSelf && <Badge tone="accent">{t("settings.you")}</Badge>}{" "}
          {!user.enabled && <Badge tone="warn">{t("common.disabled")}</Badge>}
        </span>
      }
      text={
        <>
          {user.email}
          <ErrorMessage error={changing.error} />
        </>
      }
      marks={
        fixed ? (
          <Badge>{t(`role.${user.role}`)}</Badge>
        ) : (
          <>
            <Select
              aria-label={t("settings.roleOf", { name })}
              fits
              disabled={changing.isPending}
              value={user.role}
              onChange={(event) => changing.mutate({ role: event.target.value as Role })}
            >
              {ROLES.filter((role) => roles.includes(role)).map((role) => (
                <option key={role} value={role}>
                  {t(`role.${role}`)}
                </option>
              ))}
            </Select>
            <Switch
              label={t("settings.mayEnter", { name })}
              checked={user.enabled}
              disabled={changing.isPending}
              onChange={(enabled) => changing.mutate({ enabled })}
            />
          </>
        )
      }
      actions={!fixed && <Actions user={user} name={name} />}
    />
  );
}

function Actions({ user, name }: { user: User; name: string }) {
  const { t } = useTranslation();
  const [renewing, setRenewing] = useState(false);
  return (
    <>
      <IconButton label={t("settings.passwordOf", { name })} onClick={() => setRenewing(true)}>
        <KeyRound className="size-4" />
      </IconButton>
      <NewPassword
        user={user}
        title={t("settings.passwordOf", { name })}
        open={renewing}
        onClose={() => setRenewing(false)}
      />
      <DeleteButton
        icon
        label={t("settings.deletePerson", { name })}
        title={t("settings.deletePerson", { name })}
        text={t("settings.deletePersonText")}
        remove={() => answer(api.DELETE("/api/v1/users/{user_id}", { params: { path: { user_id: user.user_id } } }))}
        stale={["users"]}
      />
    </>
  );
}
