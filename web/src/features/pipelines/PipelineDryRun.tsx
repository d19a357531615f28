// Tries the pipeline on a sample message after each change. Nothing is stored, counted or sent.
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";

import type { PipelineBody } from "../../api/types";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select, TextArea } from "../../components/Field";
import { Badge, Card } from "../../components/Layout";
import { Switch } from "../../components/Switch";
import * as agentQueries from "../agents/queries";
import * as pipelineQueries from "./queries";

const SAMPLE: pipelineQueries.Sample = { text: "", chat: "group", mentioned: false, sender: "", reply: "" };
const TONES = { pass: "calm", stop: "bad", change: "warn", wait: "warn" } as const;

export function PipelineDryRun({ pipelineId, pipeline }: { pipelineId: string; pipeline: PipelineBody }) {
  const { t } = useTranslation();
  const [sample, setSample] = useState(SAMPLE);
  const outcome = useQuery(pipelineQueries.dryRun(pipelineId, useDeferredValue(pipeline), useDeferredValue(sample)));
  const agents = useQuery(agentQueries.agents).data ?? [];
  const put = (change: Partial<pipelineQueries.Sample>) => setSample({ ...sample, ...change });
  const agent = agents.find((each) => each.agent_id === outcome.data?.answered_by)?.name;
  return (
    <Card title={t("pipelines.dryRun")} className="lg:sticky lg:top-6">
      <div className="space-y-4">
        <Field label={t("pipelines.sampleText")}>
          {(control) => (
            <TextArea
              {...control}
              rows={2}
              value={sample.text}
              onChange={(event) => put({ text: event.target.value })}
            />
          )}
        </Field>
        <Field label={t("pipelines.sampleChat")}>
          {(control) => (
            <Select
              {...control}
              value={sample.chat}
              onChange={(event) => put({ chat: event.target.value as pipelineQueries.Sample["chat"] })}
            >
              <option value="group">{t("pipelines.group")}</option>
              <option value="private">{t("pipelines.private")}</option>
            </Select>
          )}
        </Field>
        <Field label={t("pipelines.mentioned")} beside>
          {(control) => (
            <Switch id={control.id} checked={sample.mentioned} onChange={(mentioned) => put({ mentioned })} />
          )}
        </Field>
        <Field label={t("pipelines.sender")}>
          {(control) => (
            <Input {...control} value={sample.sender} onChange={(event) => put({ sender: event.target.value })} />
          )}
        </Field>
        <Field label={t("pipelines.sampleReply")}>
          {(control) => (
            <Input {...control} value={sample.reply} onChange={(event) => put({ reply: event.target.value })} />
          )}
        </Field>
        <ErrorMessage error={outcome.error} />
        <div role="status" aria-live="polite" className="space-y-3 text-sm">
          {outcome.data && (
            <p className="font-medium wrap-anywhere">
              {outcome.data.answered_by
                ? t("pipelines.answers", { name: agent ?? outcome.data.answered_by })
                : t("pipelines.unanswered")}
            </p>
          )}
          <ol className="space-y-2">
            {outcome.data?.steps.map((step, number) => (
              <li key={number} className="space-y-1">
                <span className="flex flex-wrap items-center gap-2">
                  <Badge tone={TONES[step.verdict]}>{t(`policyVerdict.${step.verdict}`)}</Badge>
                  <span className="min-w-0 wrap-anywhere">{step.reason}</span>
                </span>
                {step.after !== null && <q className="block wrap-anywhere text-quiet">{step.after}</q>}
              </li>
            ))}
          </ol>
        </div>
      </div>
    </Card>
  );
}
