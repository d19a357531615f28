// One run in the list: input, agent, bot, duration and cost. Many are rendered per frame while the list scrolls, so it
// reads nothing itself: texts are passed in, and the list handles clicks.
import type { TFunction } from "i18next";
import { memo } from "react";

import type { Run } from "../../api/types";
import { State } from "../../components/Layout";
import { within } from "../../lib/base";
import { classes } from "../../lib/classes";
import { formatCost, formatDuration, formatNumber, formatTime } from "../../lib/format";

export const ROW = 60;
export const COLUMNS =
  "grid items-center gap-4 @3xl:grid-cols-[8rem_minmax(0,3fr)_minmax(0,1.2fr)_4rem_4.5rem_4.5rem_9rem]";

type Props = { run: Run; names: Map<string, string>; start: number; index: number; t: TFunction; language: string };

export const RunRow = memo(function RunRow({ run, names, start, index, t, language }: Props) {
  const agent = run.agent_name ?? names.get(run.agent_id ?? "") ?? t("runs.run");
  const botName = run.bot_id ? (names.get(run.bot_id) ?? t("runs.botGone")) : t("runs.direct");
  const tokens = (run.usage.prompt_tokens ?? 0) + (run.usage.completion_tokens ?? 0);
  const took = run.started_at && run.finished_at ? formatDuration(run.finished_at - run.started_at) : "";
  const createdAt = formatTime(run.created_at, language);
  const metricClass = "text-right text-sm text-quiet tabular-nums @max-3xl:hidden";
  return (
    <li
      className="absolute inset-x-0 border-b border-line contain-strict"
      style={{ transform: `translateY(${start}px)`, height: ROW }}
    >
      <a
        href={within(`/runs/${run.run_id}`)}
        data-index={index}
        className={classes(
          "h-full px-4 -outline-offset-2 hover:bg-raised @max-3xl:grid-cols-[minmax(0,1fr)_auto] @3xl:px-5",
          COLUMNS,
        )}
      >
        <span className="@max-3xl:order-2 @max-3xl:text-right">
          <State state={run.status} />
          <span className="mt-0.5 block text-xs text-quiet tabular-nums @3xl:hidden">{createdAt}</span>
        </span>
        <span className="min-w-0 @max-3xl:order-1">
          <span className="block truncate font-medium">{run.input_summary || agent}</span>
          <span className="block truncate text-xs text-quiet">
            {[run.input_summary && agent, run.actor_name, run.rerun_of && t("runs.again")].filter(Boolean).join(" · ")}
            <span className="@3xl:hidden"> · {botName}</span>
          </span>
        </span>
        <span className="truncate text-sm text-quiet @max-3xl:hidden">{botName}</span>
        <span className={metricClass}>{tokens > 0 && formatNumber(tokens, language)}</span>
        <span className={metricClass}>{!!run.usage.cost_micros && formatCost(run.usage.cost_micros)}</span>
        <span className={metricClass}>{took}</span>
        <time className={metricClass}>{createdAt}</time>
      </a>
    </li>
  );
});
