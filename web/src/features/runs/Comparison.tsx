// A rerun beside the original run: usage and answers.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { RunSide } from "../../api/types";
import { ErrorMessage } from "../../components/Feedback";
import { State } from "../../components/Layout";
import { Markdown } from "../../components/Markdown";
import { classes } from "../../lib/classes";
import { formatDuration, formatNumber } from "../../lib/format";
import * as agentQueries from "../agents/queries";
import { costOf, durationOf, percentChange, tokens } from "./comparisonModel";

export function Comparison({ original, rerun }: { original: RunSide; rerun: RunSide }) {
  const { t } = useTranslation();
  const same = original.texts.join("\n") === rerun.texts.join("\n") && rerun.finished_at !== null;
  return (
    <div className="space-y-4">
      {same && (
        <p role="status" className="text-sm text-good">
          {t("runs.sameWords")}
        </p>
      )}
      <div className="grid gap-4 @2xl:grid-cols-2">
        <Side title={t("runs.original")} side={original} />
        <Side title={t("runs.again")} side={rerun} beside={original} />
      </div>
    </div>
  );
}

function Side({ title, side, beside }: { title: string; side: RunSide; beside?: RunSide }) {
  const { t, i18n } = useTranslation();
  const agent = useQuery(agentQueries.agents).data?.find((each) => each.agent_id === side.agent_id);
  const metrics: [string, string, number | null, number | null][] = [
    [
      t("runs.took"),
      durationOf(side) === null ? "–" : formatDuration(durationOf(side)!),
      durationOf(side),
      beside ? durationOf(beside) : null,
    ],
    [t("home.tokens"), formatNumber(tokens(side), i18n.language), tokens(side), beside ? tokens(beside) : null],
    [
      t("runs.costs"),
      costOf(side.usage, t("runs.costUnknown")),
      side.usage.cost_micros ?? 0,
      beside ? (beside.usage.cost_micros ?? 0) : null,
    ],
  ];
  return (
    <section aria-label={title} className="flex flex-col rounded-card border border-line bg-surface shadow-card">
      <header className="border-b border-line p-4">
        <h3 className="flex flex-wrap items-center gap-2 font-semibold">
          {title} <State state={side.status} />
          <Link
            to="/runs/$runId"
            params={{ runId: side.run_id }}
            className="ml-auto text-sm font-normal text-accent underline"
          >
            {t("chat.openRun")}
          </Link>
        </h3>
        {agent && <p className="text-sm text-quiet">{agent.name}</p>}
        <dl className="mt-3 grid grid-cols-3 gap-3 tabular-nums">
          {metrics.map(([name, value, own, other]) => (
            <div key={name}>
              <dt className="text-xs text-quiet">{name}</dt>
              <dd className="font-medium">
                {value} <Change percent={percentChange(own, other)} />
              </dd>
            </div>
          ))}
        </dl>
      </header>
      <div className="flex-1 space-y-3 p-4">
        {side.texts.map((text, index) => (
          <Markdown key={index} text={text} />
        ))}
        {side.texts.length === 0 && (
          <p className="text-sm text-quiet">
            {t(side.finished_at === null ? "runs.stillRunning" : "runs.saidNothing")}
          </p>
        )}
        {side.error && <ErrorMessage error={new Error(side.error)} />}
      </div>
    </section>
  );
}

/** A change in percent; less is better for all figures. */
function Change({ percent }: { percent: number | null }) {
  if (!percent) return null;
  return (
    <span className={classes("text-xs font-normal", percent < 0 ? "text-good" : "text-warn")}>
      {percent > 0 ? "+" : "−"}
      {Math.abs(percent)}%
    </span>
  );
}
