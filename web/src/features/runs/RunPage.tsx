// One run: what it cost, its timeline, and why it came to be; cancel it, or run it again.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Run } from "../../api/facts";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Field, Select } from "../../components/Field";
import { ErrorNote, Loading } from "../../components/Notes";
import { Card, Code, PageBody, State } from "../../components/Surfaces";
import { Tabs } from "../../components/Tabs";
import { cost, figure, moment, short, span } from "../../lib/text";
import { useSave } from "../../lib/useSave";
import { Comparison } from "./Comparison";
import { Timeline } from "./Timeline";
import { timeline } from "./timeline";

export default function RunPage() {
  const { t, i18n } = useTranslation();
  const { operate } = useRights();
  const { runId } = useParams({ from: "/inside/runs/$runId" });
  const run = useQuery(queries.run(runId));
  const events = useQuery(queries.runEvents(runId));
  const agents = useQuery(queries.agents).data ?? [];
  const models = useQuery(queries.models).data ?? [];
  const names = new Map(models.map((model) => [model.model_id, model.name]));
  const [rerunning, setRerunning] = useState(false);
  const cancelling = useSave(() => answer(api.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id: runId } } })), ["runs"]);
  if (run.error) return <div className="p-8"><ErrorNote error={run.error} /></div>;
  if (!run.data) return <div className="p-8"><Loading /></div>;
  const { data } = run;
  const agent = agents.find((each) => each.agent_id === data.agent_id);
  return (
    <PageBody
      title={<span className="flex flex-wrap items-center gap-3">{agent?.name ?? t("runs.run")} <State state={data.status} /></span>}
      text={`${moment(data.created_at, i18n.language)} · ${short(data.run_id)}`}
      actions={
        operate && (
          <>
            {data.finished_at === null && <Button weight="danger" busy={cancelling.isPending} onClick={() => cancelling.mutate(undefined)}>{t("runs.cancel")}</Button>}
            <Button onClick={() => setRerunning(true)}>{t("runs.rerun")}</Button>
          </>
        )
      }
    >
      <div className="space-y-5">
        <ErrorNote error={cancelling.error} />
        <Figures run={data} />
        {data.error && <ErrorNote error={new Error(typeof data.error === "string" ? data.error : data.error.message ?? data.status_reason ?? "")} />}
        {data.rerun_of && <p className="text-sm text-quiet">{t("runs.rerunOf")} <Link to="/runs/$runId" params={{ runId: data.rerun_of }} className="text-accent underline">{short(data.rerun_of)}</Link></p>}
        <Tabs
          tabs={[
            {
              id: "timeline",
              label: t("runs.timeline"),
              content: events.data ? <Timeline steps={timeline(events.data)} names={names} /> : <Loading />,
            },
            ...(data.original ? [{ id: "compare", label: t("runs.compare"), content: <Comparison original={data.original} rerun={{ ...data, texts: data.texts ?? [] }} /> }] : []),
            { id: "why", label: t("runs.why"), content: <Why name={data.event_id} /> },
            { id: "grants", label: t("runs.grants"), content: <Code>{JSON.stringify(data.authorization, null, 2)}</Code> },
          ]}
        />
      </div>
      <Rerun run={data} open={rerunning} onClose={() => setRerunning(false)} />
    </PageBody>
  );
}

function Figures({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const took = run.started_at && run.finished_at ? span(run.finished_at - run.started_at) : "–";
  const figures: [string, string][] = [
    [t("runs.took"), took],
    [t("runs.modelCalls"), figure(run.usage.model_calls ?? 0, i18n.language)],
    [t("runs.tokensIn"), figure(run.usage.prompt_tokens ?? 0, i18n.language)],
    [t("runs.tokensOut"), figure(run.usage.completion_tokens ?? 0, i18n.language)],
    [t("runs.costs"), cost(run.usage.cost_micros ?? 0)],
  ];
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-5">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-quiet">{name}</dt>
            <dd className="text-lg font-semibold tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

export function Why({ name }: { name: string }) {
  const { i18n } = useTranslation();
  const trail = useQuery(queries.why(name));
  if (trail.error) return <ErrorNote error={trail.error} />;
  if (!trail.data) return <Loading />;
  return (
    <ol className="space-y-2.5">
      {trail.data.steps.map((step, index) => (
        <li key={index} className="flex gap-4 text-sm">
          <time className="w-24 shrink-0 text-quiet tabular-nums">{moment(step.at, i18n.language)}</time>
          <span className="min-w-0 break-words">{step.text}</span>
        </li>
      ))}
    </ol>
  );
}

function Rerun({ run, open, onClose }: { run: Run; open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const agents = useQuery(queries.agents).data ?? [];
  const [agentId, setAgentId] = useState("");
  const rerunning = useSave(
    () => answer<Run>(api.POST("/api/v1/runs/{run_id}/rerun", { params: { path: { run_id: run.run_id } }, body: agentId ? { agent_id: agentId, allow_effects: false } : { allow_effects: false } })),
    ["runs"],
    (made) => {
      onClose();
      void navigate({ to: "/runs/$runId", params: { runId: made.run_id } });
    },
  );
  return (
    <Dialog open={open} title={t("runs.rerun")} onClose={onClose}>
      <div className="space-y-4">
        <p className="text-sm text-quiet">{t("runs.rerunText")}</p>
        <Field label={t("runs.agent")}>
          {(control) => (
            <Select {...control} value={agentId} onChange={(event) => setAgentId(event.target.value)}>
              <option value="">{t("runs.sameAgent")}</option>
              {agents.map((agent) => <option key={agent.agent_id} value={agent.agent_id}>{agent.name}</option>)}
            </Select>
          )}
        </Field>
        <ErrorNote error={rerunning.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button weight="primary" busy={rerunning.isPending} onClick={() => rerunning.mutate(undefined)}>{t("runs.rerun")}</Button>
        </div>
      </div>
    </Dialog>
  );
}
