// The frame of every page: the sidebar, which a button opens on a phone, and the notice that the Host is unreachable.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import {
  BookOpen,
  Bot,
  Boxes,
  Container,
  Cpu,
  GraduationCap,
  House,
  ListTree,
  LogOut,
  type LucideIcon,
  Menu,
  MessageCircle,
  Network,
  Server,
  Settings,
  ShieldCheck,
  Sparkles,
  Workflow,
  Wrench,
  X,
} from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { IconButton } from "../components/Button";
import * as approvalQueries from "../features/approvals/queries";
import { within } from "../lib/base";
import { classes } from "../lib/classes";
import { useLive } from "./live";
import { Preferences } from "./Preferences";
import { useCurrency, useLogOut, useMe } from "./session";

const PLACES: [path: string, word: string, icon: LucideIcon][] = [
  ["/", "nav.home", House],
  ["/chat", "nav.chat", MessageCircle],
  ["/bots", "nav.bots", Bot],
  ["/agents", "nav.agents", Sparkles],
  ["/pipelines", "nav.pipelines", Workflow],
  ["/runs", "nav.runs", ListTree],
  ["/approvals", "nav.approvals", ShieldCheck],
  ["/models", "nav.models", Cpu],
  ["/knowledge", "nav.knowledge", BookOpen],
  ["/tools", "nav.tools", Wrench],
  ["/skills", "nav.skills", GraduationCap],
  ["/box", "nav.box", Container],
  ["/workers", "nav.workers", Server],
  ["/hosts", "nav.hosts", Network],
  ["/plugins", "nav.plugins", Boxes],
  ["/settings", "nav.settings", Settings],
];

export function Shell() {
  const { t } = useTranslation();
  const connected = useLive();
  useCurrency();
  const [open, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="flex h-dvh flex-col md:flex-row">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-control focus:bg-surface focus:p-2"
      >
        {t("nav.skip")}
      </a>
      <header className="flex h-13 shrink-0 items-center gap-2 border-b border-line bg-surface px-3 md:hidden">
        <IconButton label={t(open ? "nav.close" : "nav.open")} aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? <X className="size-5" /> : <Menu className="size-5" />}
        </IconButton>
        <Brand />
      </header>
      <aside
        className={classes(
          "z-30 w-60 shrink-0 flex-col border-r border-line bg-surface p-3 md:flex",
          open ? "fixed inset-y-0 top-13 left-0 flex" : "hidden",
        )}
      >
        <div className="mb-4 hidden px-2 pt-2 md:block">
          <Brand />
        </div>
        <Places />
        <div className="mt-auto space-y-1 border-t border-line pt-3">
          <Preferences />
          <Person />
        </div>
      </aside>
      {open && (
        <div aria-hidden className="fixed inset-0 top-13 z-20 bg-black/40 md:hidden" onClick={() => setOpen(false)} />
      )}
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        {!connected && (
          <div role="status" className="shrink-0 bg-warn-wash px-4 py-2 text-center text-sm text-warn">
            {t("errors.reconnecting")}
          </div>
        )}
        {/* pages go by its width, not by the window's: the sidebar takes a third of a tablet */}
        <main id="main" tabIndex={-1} className="@container relative min-h-0 flex-1 overflow-y-auto outline-none">
          <Outlet />
        </main>
      </div>
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="flex items-center gap-2.5 rounded-control text-lg font-semibold tracking-tight">
      <img src={within("/icon.svg")} alt="" className="size-7" />
      Parlour
    </Link>
  );
}

function Places() {
  const { t } = useTranslation();
  const pending = useQuery(approvalQueries.approvals).data?.length ?? 0;
  return (
    <nav aria-label={t("nav.label")} className="space-y-0.5 overflow-y-auto">
      {PLACES.map(([path, word, Icon]) => (
        <Link
          key={path}
          to={path}
          activeOptions={{ exact: path === "/" }}
          className="flex items-center gap-3 rounded-control px-2.5 py-1.5 text-quiet hover:bg-raised hover:text-ink data-[status=active]:bg-accent-wash data-[status=active]:font-medium data-[status=active]:text-accent"
        >
          <Icon aria-hidden className="size-4.5" strokeWidth={1.8} />
          {t(word)}
          {path === "/approvals" && pending > 0 && (
            <span className="ml-auto rounded-full bg-warn-wash px-2 text-xs font-medium text-warn">{pending}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function Person() {
  const { t } = useTranslation();
  const me = useMe();
  const logOut = useLogOut();
  return (
    <div className="flex items-center gap-2 px-2.5">
      <div className="min-w-0 flex-1 leading-tight">
        <div className="truncate text-sm font-medium">{me?.name || me?.email}</div>
        <div className="text-xs text-quiet">{me && t(`role.${me.role}`)}</div>
      </div>
      <IconButton label={t("nav.logOut")} onClick={() => void logOut()}>
        <LogOut className="size-4" />
      </IconButton>
    </div>
  );
}
