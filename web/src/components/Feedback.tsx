// Feedback of the page: errors, loading, and empty states.
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Problem, readable, withoutInternals } from "../api/problem";
import type { FormItem } from "../api/types";
import { classes } from "../lib/classes";
import { localized } from "../lib/format";

/** `items` are the items of the form that the error is about. */
export function useErrorText(): (error: unknown, items?: FormItem[]) => string {
  const { t, i18n } = useTranslation();
  return (error, items = []) => {
    const labelOf = (name: string) => localized(items.find((item) => item.name === name)?.label, i18n.language);
    if (error instanceof Problem && error.code === "unreachable") return t("errors.unreachable");
    const fullMessage =
      error instanceof Problem ? readable(error, labelOf) : error instanceof Error ? error.message : String(error);
    const message = withoutInternals(fullMessage, labelOf);
    return message.charAt(0).toUpperCase() + message.slice(1);
  };
}

export function ErrorMessage({ error, mild, items }: { error: unknown; mild?: boolean; items?: FormItem[] }) {
  const sentence = useErrorText();
  if (!error) return null;
  return (
    <div
      role={mild ? "status" : "alert"}
      className={classes(
        "flex gap-2.5 rounded-control px-3.5 py-2.5 text-sm",
        mild ? "bg-warn-wash text-warn" : "bg-bad-wash text-bad",
      )}
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p className="min-w-0 wrap-anywhere">{sentence(error, items)}</p>
    </div>
  );
}

export function Loading() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("common.loading")} className="space-y-3 py-2">
      {["w-2/3", "w-full", "w-1/2"].map((width) => (
        <div key={width} className={`h-4 animate-pulse rounded bg-raised ${width}`} />
      ))}
    </div>
  );
}

export function Empty({
  icon,
  title,
  text,
  children,
  page,
}: {
  icon?: ReactNode;
  title: string;
  text: string;
  children?: ReactNode;
  /** The only content of the page: its title is the heading of the page. */
  page?: boolean;
}) {
  const Heading = page ? "h1" : "h2";
  return (
    <div className="flex flex-col items-center gap-2 rounded-card border border-dashed border-line px-6 py-12 text-center">
      {icon && <div className="mb-1 rounded-full bg-accent-wash p-3 text-accent">{icon}</div>}
      <Heading className="font-semibold">{title}</Heading>
      <p className="max-w-md text-sm text-quiet">{text}</p>
      {children && <div className="mt-3 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}
