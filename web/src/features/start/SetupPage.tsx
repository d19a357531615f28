// The first page of a new Host: creates the owner's account.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, setToken } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import * as queries from "../../api/queries";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { AuthLayout } from "./AuthLayout";

export default function SetupPage() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const setup = useQuery(queries.setup);
  const [owner, setOwner] = useState({ name: "", email: "", password: "", token: "" });
  const setField = (name: keyof typeof owner) => (event: React.ChangeEvent<HTMLInputElement>) =>
    setOwner({ ...owner, [name]: event.target.value });
  const making = useMutation({
    mutationFn: () => answer(api.POST("/api/v1/auth/setup", { body: owner })),
    onSuccess: (me) => {
      setToken(me.csrf_token);
      client.setQueryData(queries.me.queryKey, me);
      void navigate({ to: "/welcome" });
    },
  });
  return (
    <AuthLayout title={t("setup.title")} text={t("setup.text")}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          making.mutate();
        }}
      >
        <Field label={t("setup.name")}>
          {(control) => (
            <Input {...control} autoComplete="name" autoFocus value={owner.name} onChange={setField("name")} />
          )}
        </Field>
        <Field label={t("login.email")} error={fieldMessage(making.error, "email")}>
          {(control) => (
            <Input
              {...control}
              type="email"
              autoComplete="username"
              required
              value={owner.email}
              onChange={setField("email")}
            />
          )}
        </Field>
        <Field
          label={t("login.password")}
          hint={t("setup.passwordHint")}
          error={fieldMessage(making.error, "password")}
        >
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              required
              value={owner.password}
              onChange={setField("password")}
            />
          )}
        </Field>
        {setup.data?.token_required && (
          <Field label={t("setup.token")} hint={t("setup.tokenHint")}>
            {(control) => <Input {...control} required value={owner.token} onChange={setField("token")} />}
          </Field>
        )}
        <ErrorMessage error={making.error} />
        <Button type="submit" weight="primary" busy={making.isPending} className="w-full">
          {t("setup.create")}
        </Button>
      </form>
    </AuthLayout>
  );
}
