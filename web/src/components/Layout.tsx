// The layout of pages: header, cards, badges and states.
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { classes } from "../lib/classes";
import { usePageTitle } from "../lib/usePageTitle";

export function PageBody({
  title,
  name,
  text,
  actions,
  children,
  wide,
}: {
  title: ReactNode;
  /** The title as plain text for the browser tab, if `title` is not a string. */
  name?: string;
  text?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  wide?: boolean;
}) {
  usePageTitle(name ?? (typeof title === "string" ? title : ""));
  return (
    <div className={classes("mx-auto w-full px-4 py-6 sm:px-8 sm:py-8", wide ? "max-w-7xl" : "max-w-5xl")}>
      <header className="mb-6 flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-72 wrap-anywhere">
          <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
          {text && <p className="mt-1 max-w-2xl text-quiet">{text}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  actions,
  children,
  className,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={classes("rounded-card border border-line bg-surface p-5 shadow-card", className)}>
      {title && (
        <div className="mb-4 flex items-center justify-between gap-3">
          <h2 className="min-w-0 font-semibold wrap-anywhere">{title}</h2>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}

type Tone = "good" | "warn" | "bad" | "calm" | "accent";
const TONES: Record<Tone, string> = {
  good: "bg-good-wash text-good",
  warn: "bg-warn-wash text-warn",
  bad: "bg-bad-wash text-bad",
  calm: "bg-raised text-quiet",
  accent: "bg-accent-wash text-accent",
};

export function Badge({ tone = "calm", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classes(
        "inline-flex items-center gap-1.5 rounded-full px-2.5 py-0.5 text-xs font-medium whitespace-nowrap",
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

const STATES: Record<string, Tone> = {
  completed: "good",
  ready: "good",
  connected: "good",
  approved: "good",
  running: "accent",
  claimed: "accent",
  failed: "bad",
  error: "bad",
  denied: "bad",
  refused: "bad",
  cancelled: "calm",
  stopped: "calm",
  disabled: "calm",
  pending: "warn",
  waiting: "warn",
  building: "warn",
  starting: "warn",
  connecting: "warn",
  queued: "warn",
  held: "warn",
  created: "warn",
  sent: "good",
  done: "good",
  injected: "good",
  sending: "accent",
  streaming: "accent",
  expired: "calm",
  timeout: "bad",
  waiting_approval: "warn",
};

/** A state of the Host in its colour, translated if the page has a text for it. */
export function State({ state }: { state: string }) {
  const { t, i18n } = useTranslation();
  const key = `state.${state}`;
  return (
    <Badge tone={STATES[state] ?? "calm"}>
      <span aria-hidden className="size-1.5 rounded-full bg-current" />
      {i18n.exists(key) ? t(key) : state}
    </Badge>
  );
}

export function Code({ children }: { children: string }) {
  return (
    <pre
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-control bg-raised p-3 font-mono text-xs leading-relaxed"
    >
      {children}
    </pre>
  );
}
