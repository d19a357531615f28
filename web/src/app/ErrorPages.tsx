// Pages in place of one that does not exist or that failed.
import { Link, useRouter } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Button, buttonClasses } from "../components/Button";
import { Empty, ErrorMessage } from "../components/Feedback";
import { usePageTitle } from "../lib/usePageTitle";

export function NotFoundPage() {
  const { t } = useTranslation();
  usePageTitle(t("errors.missing"));
  return (
    <div className="mx-auto max-w-xl p-8">
      <Empty page title={t("errors.missing")} text={t("errors.missingText")}>
        <Link to="/" className={buttonClasses("primary")}>
          {t("nav.home")}
        </Link>
      </Empty>
    </div>
  );
}

export function ErrorPage({ error }: { error: unknown }) {
  const { t } = useTranslation();
  const router = useRouter();
  return (
    <div className="mx-auto max-w-xl space-y-4 p-8">
      <ErrorMessage error={error} />
      <Button weight="primary" onClick={() => void router.invalidate()}>
        {t("common.again")}
      </Button>
    </div>
  );
}
