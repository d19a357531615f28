// The login page.
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { within } from "../../lib/base";
import { AuthLayout } from "./AuthLayout";
import { LoginForm } from "./LoginForm";

const route = getRouteApi("/login");

export default function LoginPage() {
  const { t } = useTranslation();
  const { next } = route.useSearch();
  const router = useRouter();
  // only a path of this page: an external address would lead users away
  const target = next.startsWith("/") && !next.startsWith("//") ? next : "/";
  return (
    <AuthLayout title={t("login.title")} text={t("login.text")}>
      <LoginForm onLoggedIn={() => router.history.push(within(target))} />
    </AuthLayout>
  );
}
