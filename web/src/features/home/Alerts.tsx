// The alerts, each with a link.
import { Link } from "@tanstack/react-router";
import { ChevronRight, CircleCheck, TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";

import { type Alert, useAlerts } from "./useAlerts";

export function Alerts() {
  const { t } = useTranslation();
  const concerns = useAlerts();
  if (concerns.length === 0) {
    return (
      <p className="flex items-center gap-2 rounded-card border border-line bg-surface px-5 py-3.5 text-sm text-good shadow-card">
        <CircleCheck aria-hidden className="size-4" /> {t("home.fine")}
      </p>
    );
  }
  return (
    <section
      aria-label={t("home.attention")}
      className="overflow-hidden rounded-card border border-line bg-surface shadow-card"
    >
      <h2 className="border-b border-line px-5 py-3 font-semibold">{t("home.attention")}</h2>
      <ul className="divide-y divide-line">
        {concerns.map((concern) => (
          <ConcernRow key={concern.key} concern={concern} />
        ))}
      </ul>
    </section>
  );
}

function ConcernRow({ concern }: { concern: Alert }) {
  return (
    <li>
      <Link
        to={concern.to}
        params={concern.params}
        search={concern.search}
        className="flex items-center gap-3 px-5 py-3 text-sm -outline-offset-2 hover:bg-raised"
      >
        <TriangleAlert aria-hidden className="size-4 shrink-0 text-warn" />
        <span className="min-w-0 flex-1 break-words">{concern.text}</span>
        <ChevronRight aria-hidden className="size-4 shrink-0 text-quiet" />
      </Link>
    </li>
  );
}
