// The login form: e-mail and password.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, setToken } from "../../api/client";
import * as queries from "../../api/queries";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";

export function LoginForm({ onLoggedIn }: { onLoggedIn: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const entering = useMutation({
    mutationFn: () => answer(api.POST("/api/v1/auth/login", { body: { email, password } })),
    onSuccess: (me) => {
      setToken(me.csrf_token);
      client.setQueryData(queries.me.queryKey, me);
      onLoggedIn();
    },
  });
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        entering.mutate();
      }}
    >
      <Field label={t("login.email")}>
        {(control) => (
          <Input
            {...control}
            type="email"
            name="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("login.password")}>
        {(control) => (
          <Input
            {...control}
            type="password"
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <ErrorMessage error={entering.error} />
      <Button type="submit" weight="primary" busy={entering.isPending} className="w-full">
        {t("login.enter")}
      </Button>
    </form>
  );
}
