// The page of one run: usage, timeline, replay and trail; it can be cancelled or run again.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import { isGone } from "../../api/problem";
import type { RunDetail } from "../../api/types";
import { NotFoundPage } from "../../app/ErrorPages";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Card, PageBody, State } from "../../components/Layout";
import { Tabs } from "../../components/Tabs";
import { formatDuration, formatNumber, formatTime } from "../../lib/format";
import * as agentQueries from "../agents/queries";
import * as botQueries from "../bots/queries";
import * as modelQueries from "../models/queries";
import { CancelRun } from "./CancelRun";
import { Comparison } from "./Comparison";
import { costOf, durationOf } from "./comparisonModel";
import { Granted } from "./Granted";
import * as runQueries from "./queries";
import { Replay } from "./Replay";
import { Rerun } from "./Rerun";
import { RunApprovals } from "./RunApprovals";
import { ofSender } from "./search";
import { withReadableNames } from "./stepNames";
import { Timeline } from "./Timeline";
import { timeline } from "./timelineModel";
import { Why } from "./Why";

export { Why };

export default function RunPage() {
  const { runId } = useParams({ from: "/authenticated/runs/$runId" });
  const run = useQuery(runQueries.run(runId));
  if (isGone(run.error)) return <NotFoundPage />;
  if (run.error)
    return (
      <div className="mx-auto max-w-5xl p-8">
        <ErrorMessage error={run.error} />
      </div>
    );
  if (!run.data)
    return (
      <div className="mx-auto max-w-5xl p-8">
        <Loading />
      </div>
    );
  return <Shown key={runId} run={run.data} />;
}

function Shown({ run }: { run: RunDetail }) {
  const { t } = useTranslation();
  const { operate } = useRights();
  const names = useNames();
  const [rerunning, setRerunning] = useState(false);
  const agent = run.agent_name ?? names.get(run.agent_id ?? "") ?? t("runs.run");
  const agentExists = run.agent_id && names.has(run.agent_id);
  const agentLink = agentExists ? (
    <Link to="/agents/$agentId" params={{ agentId: run.agent_id! }} className="hover:underline">
      {agent}
    </Link>
  ) : (
    agent
  );
  return (
    <PageBody
      name={`${agent} – ${t("runs.run")}`}
      title={
        <span className="flex flex-wrap items-center gap-3">
          {agentLink} <State state={run.status} />
        </span>
      }
      text={<Origin run={run} names={names} />}
      actions={
        operate && (
          <>
            {run.finished_at === null && <CancelRun runId={run.run_id} />}
            <Button onClick={() => setRerunning(true)}>{t("runs.rerun")}</Button>
          </>
        )
      }
    >
      <div className="space-y-5">
        <Figures run={run} />
        {run.error && <ErrorMessage error={new Error(run.error)} />}
        <Relatives run={run} />
        {run.finished_at === null && <RunApprovals runId={run.run_id} />}
        <Views run={run} names={names} />
      </div>
      <Rerun run={run} open={rerunning} onClose={() => setRerunning(false)} />
    </PageBody>
  );
}

function Views({ run, names }: { run: RunDetail; names: Map<string, string> }) {
  const { t, i18n } = useTranslation();
  const { readModelCalls } = useRights();
  const events = useQuery(runQueries.runEvents(run.run_id, run.finished_at === null));
  const steps = useMemo(
    () => events.data && withReadableNames(timeline(events.data, run), i18n, names),
    // i18n is the same object in every language
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [events.data, run, i18n, i18n.language, names],
  );
  const content = steps ? <Timeline steps={steps} names={names} run={run} opensCalls={readModelCalls} /> : <Loading />;
  const compared = run.original && <Comparison original={run.original} rerun={{ ...run, texts: run.texts ?? [] }} />;
  const tabs = [
    {
      id: "timeline",
      label: t("runs.timeline"),
      content: events.error ? <ErrorMessage error={events.error} /> : content,
    },
    ...(compared ? [{ id: "compare", label: t("runs.compare"), content: compared }] : []),
    { id: "replay", label: t("runs.replay"), content: <Replay run={run} /> },
    { id: "why", label: t("runs.why"), content: <Why name={run.run_id} /> },
    { id: "grants", label: t("runs.grants"), content: <Granted grants={run.authorization} names={names} /> },
  ];
  return <Tabs tabs={tabs} />;
}

/** The names of models, bots and agents by their ids. */
function useNames(): Map<string, string> {
  const agents = useQuery(agentQueries.agents).data;
  const models = useQuery(modelQueries.models).data;
  const bots = useQuery(botQueries.bots).data;
  return useMemo(() => {
    const details = [
      ...(agents ?? []).map((each) => [each.agent_id, each.name] as const),
      ...(models ?? []).map((each) => [each.model_id, each.name] as const),
      ...(bots ?? []).map((each) => [each.bot_id, each.name] as const),
    ];
    return new Map(details);
  }, [agents, models, bots]);
}

function Origin({ run, names }: { run: RunDetail; names: Map<string, string> }) {
  const { t, i18n } = useTranslation();
  const actor = run.event?.actor_name || run.actor_name || run.event?.actor_id;
  const sender = ofSender(run);
  const link = "text-accent underline underline-offset-2";
  const bot = run.bot_id && names.get(run.bot_id);
  return (
    <span className="flex flex-wrap gap-x-4 gap-y-1 tabular-nums">
      {bot ? (
        <Link to="/bots/$botId" params={{ botId: run.bot_id! }} className={link}>
          {bot}
        </Link>
      ) : (
        <span>{t(run.bot_id ? "runs.botGone" : "runs.direct")}</span>
      )}
      {actor &&
        (sender ? (
          <Link to="/runs" search={sender} title={t("runs.ofPerson", { name: actor })} className={link}>
            {actor}
          </Link>
        ) : (
          <span>{actor}</span>
        ))}
      {run.conversation_id && (
        <Link to="/runs" search={{ conversation: run.conversation_id }} className={link}>
          {t("runs.conversation")}
        </Link>
      )}
      <time>{formatTime(run.created_at, i18n.language)}</time>
    </span>
  );
}

function Relatives({ run }: { run: RunDetail }) {
  const { t } = useTranslation();
  const reruns = run.reruns ?? [];
  const link = (runId: string, label: string) => (
    <Link
      key={runId}
      to="/runs/$runId"
      params={{ runId }}
      search={{}}
      className="text-accent underline underline-offset-2"
    >
      {label}
    </Link>
  );
  if (!run.rerun_of && !run.parent_run_id && reruns.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-quiet">
      {run.rerun_of && (
        <>
          <ArrowLeft aria-hidden className="size-4" /> {link(run.rerun_of, t("runs.rerunOf"))}
        </>
      )}
      {run.parent_run_id && (
        <>
          {t("runs.attempt", { number: run.attempt })} {link(run.parent_run_id, t("runs.previous"))}
        </>
      )}
      {reruns.length > 0 && (
        <>
          {t("runs.reruns")} {reruns.map((each, index) => link(each.run_id, String(index + 1)))}
        </>
      )}
    </p>
  );
}

function Figures({ run }: { run: RunDetail }) {
  const { t, i18n } = useTranslation();
  const { usage } = run;
  const duration = durationOf(run);
  const metrics: [string, string][] = [
    [t("runs.took"), duration === null ? "–" : formatDuration(duration)],
    [t("runs.modelCalls"), formatNumber(usage.model_calls ?? 0, i18n.language)],
    [t("runs.toolCalls"), formatNumber(usage.tool_calls ?? 0, i18n.language)],
    [t("runs.tokensIn"), formatNumber(usage.prompt_tokens ?? 0, i18n.language)],
    [t("runs.tokensOut"), formatNumber(usage.completion_tokens ?? 0, i18n.language)],
    [t("runs.costs"), costOf(usage, t("runs.costUnknown"))],
  ];
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-4 @sm:grid-cols-3 @2xl:grid-cols-6">
        {metrics.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-quiet">{name}</dt>
            <dd className="text-lg font-semibold whitespace-nowrap tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
