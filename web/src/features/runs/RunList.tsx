// The rows of the list. Only those in view are rendered, so that long lists scroll smoothly; arrow keys work.
import { useElementScrollRestoration, useRouter } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, useEffect, useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import type { Run } from "../../api/types";
import { BASE } from "../../lib/base";
import { classes } from "../../lib/classes";
import { COLUMNS, ROW, RunRow } from "./RunRow";

const AHEAD = 250;
/** The scroll position of the list, to return to it from a run. */
const PLACE = "runs";

export function RunList({ rows, names, atEnd }: { rows: Run[]; names: Map<string, string>; atEnd: () => void }) {
  const { t, i18n } = useTranslation();
  const open = useOpen();
  const box = useRef<HTMLDivElement>(null);
  const scrollEntry = useElementScrollRestoration({ id: PLACE });
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 6,
    initialOffset: scrollEntry?.scrollY,
  });
  const visible = virtual.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - AHEAD) atEnd();
  }, [last, rows.length, atEnd]);
  useStill(box, rows);
  const step = (event: KeyboardEvent) => {
    const target = next(event.key, Number((event.target as HTMLElement).dataset.index ?? -1), rows.length);
    if (target === null) return;
    event.preventDefault();
    virtual.scrollToIndex(target);
    // the row may not be rendered yet
    requestAnimationFrame(() =>
      box.current?.querySelector<HTMLElement>(`a[data-index="${target}"]`)?.focus({ preventScroll: true }),
    );
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-hidden rounded-t-card border border-b-0 border-line bg-surface shadow-card">
      <div
        aria-hidden
        className={classes(
          "overflow-hidden border-b border-line bg-raised/60 px-5 py-2 [scrollbar-gutter:stable] text-xs font-medium text-quiet @max-3xl:hidden",
          COLUMNS,
        )}
      >
        <span>{t("runs.status")}</span>
        <span>{t("runs.what")}</span>
        <span>{t("runs.where")}</span>
        <span className="text-right">{t("home.tokens")}</span>
        <span className="text-right">{t("runs.costs")}</span>
        <span className="text-right">{t("runs.took")}</span>
        <span className="text-right">{t("runs.when")}</span>
      </div>
      <div
        ref={box}
        data-scroll-restoration-id={PLACE}
        tabIndex={0}
        role="region"
        aria-label={t("nav.runs")}
        onKeyDown={step}
        onClick={open}
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2 [scrollbar-gutter:stable]"
      >
        <ul style={{ height: virtual.getTotalSize() }} className="relative">
          {visible.map(({ index, start }) => {
            const run = rows[index];
            return (
              run && (
                <RunRow
                  key={run.run_id}
                  run={run}
                  names={names}
                  start={start}
                  index={index}
                  t={t}
                  language={i18n.language}
                />
              )
            );
          })}
        </ul>
      </div>
    </div>
  );
}

/** Returns the row that a key leads to from another row; -1 is the list itself. */
export function next(key: string, from: number, amount: number): number | null {
  const page = 10;
  const steps: Record<string, number> = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    PageDown: from + page,
    PageUp: from - page,
    Home: 0,
    End: amount - 1,
  };
  const target = steps[key];
  return target === undefined || amount === 0 ? null : Math.max(0, Math.min(amount - 1, target));
}

/** A row is a plain link; a click that would open it in this tab navigates without loading the page again. */
function useOpen(): (event: MouseEvent) => void {
  const router = useRouter();
  return (event) => {
    const href = (event.target as HTMLElement).closest("a")?.getAttribute("href");
    if (
      !href ||
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    void router.navigate({ to: href.slice(BASE.length) });
  };
}

/** New rows are added at the top; the rows in view stay in view. */
function useStill(box: React.RefObject<HTMLDivElement | null>, rows: Run[]): void {
  const firstId = useRef(rows[0]?.run_id);
  useLayoutEffect(() => {
    const added = rows.findIndex((run) => run.run_id === firstId.current);
    if (box.current && added > 0 && box.current.scrollTop > 0) box.current.scrollTop += added * ROW;
    firstId.current = rows[0]?.run_id;
  }, [box, rows]);
}
