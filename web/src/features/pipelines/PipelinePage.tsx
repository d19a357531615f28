// One pipeline: its cards in the order of the path of a message, and a dry run beside them that follows each change.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { isGone } from "../../api/problem";
import type { Pipeline, PipelineBody } from "../../api/types";
import { NotFoundPage } from "../../app/ErrorPages";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { PageBody } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { Switch } from "../../components/Switch";
import { Tabs } from "../../components/Tabs";
import { useSave } from "../../lib/useSave";
import { useBase, useSaveWithConflict } from "../../lib/useSaveWithConflict";
import * as agentQueries from "../agents/queries";
import { PreviewChat } from "../previews/PreviewChat";
import { PolicySectionFields } from "../policies/PolicyFields";
import { POLICY_SECTIONS } from "../policies/policyForm";
import * as pipelineQueries from "./queries";
import { PipelineDryRun } from "./PipelineDryRun";

const BEFORE_AGENT = ["wake", "limits", "gather", "input"];

export default function PipelinePage() {
  const { pipelineId } = useParams({ from: "/authenticated/pipelines/$pipelineId" });
  const pipeline = useQuery(pipelineQueries.pipeline(pipelineId));
  if (isGone(pipeline.error)) return <NotFoundPage />;
  return (
    <div>
      {pipeline.error && <ErrorMessage error={pipeline.error} />}
      {pipeline.data ? <Editor key={pipelineId} current={pipeline.data} /> : !pipeline.error && <Loading />}
    </div>
  );
}

function bodyOf(pipeline: Pipeline): PipelineBody {
  const { pipeline_id: _, problem: __, ...body } = pipeline;
  return body as PipelineBody;
}

function Editor({ current }: { current: Versioned<Pipeline> }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Pipeline | null>(null);
  const base = useBase(current, draft !== null);
  const pipeline = base.value;
  const displayed = draft ?? pipeline;
  const path = { pipeline_id: pipeline.pipeline_id };
  const dirty = draft !== null && JSON.stringify(draft) !== JSON.stringify(pipeline);
  const put = (change: Partial<Pipeline>) => setDraft({ ...displayed, ...change });
  const saving = useSaveWithConflict({
    base,
    query: pipelineQueries.pipeline(pipeline.pipeline_id),
    bodyOf,
    put: (body, over) =>
      answer(api.PUT("/api/v1/pipelines/{pipeline_id}", { params: { path, header: ifMatch(over) }, body })),
    stale: ["pipelines"],
    after: () => setDraft(null),
  });
  const copying = useSave(
    () => answer(api.POST("/api/v1/pipelines/{pipeline_id}/copy", { params: { path } })),
    ["pipelines"],
    (made) => void navigate({ to: "/pipelines/$pipelineId", params: { pipelineId: made.pipeline_id } }),
  );
  const discard = () => {
    setDraft(null);
    saving.reset();
  };
  const sections = (before: boolean) =>
    POLICY_SECTIONS.filter(({ id }) => BEFORE_AGENT.includes(id) === before).map((section) => (
      <div key={section.id} className="rounded-card border border-line bg-surface p-4 shadow-card">
        <PolicySectionFields
          section={section}
          policy={displayed.message_policy}
          disabled={!edit}
          onChange={(message_policy) => put({ message_policy })}
        />
      </div>
    ));
  return (
    <PageBody
      wide
      title={pipeline.name}
      text={pipeline.problem ?? pipeline.description}
      actions={
        edit && (
          <Button busy={copying.isPending} onClick={() => copying.mutate(undefined)}>
            {t("pipelines.copy")}
          </Button>
        )
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            saving.save(bodyOf(displayed));
          }}
        >
          <LeaveGuard dirty={dirty} />
          {sections(true)}
          <AgentCard pipeline={displayed} put={put} disabled={!edit} />
          {sections(false)}
          <div className="space-y-3">
            <ErrorMessage error={saving.error ?? copying.error} />
            <ConflictNote
              name={pipeline.name}
              conflict={saving.conflict}
              busy={saving.isPending}
              onTheirs={discard}
              onMine={saving.overwrite}
            />
            {edit ? (
              <div className="flex flex-wrap items-center gap-2">
                <Button type="submit" weight="primary" busy={saving.isPending} disabled={!dirty}>
                  {t("common.save")}
                </Button>
                {dirty && (
                  <Button weight="quiet" onClick={discard}>
                    {t("common.discard")}
                  </Button>
                )}
                {!dirty && saving.isSuccess && (
                  <span role="status" className="text-sm text-good">
                    {t("common.saved")}
                  </span>
                )}
                <span className="flex-1" />
                <DeleteButton
                  label={t("common.delete")}
                  title={t("pipelines.deleteTitle", { name: pipeline.name })}
                  text={t("pipelines.deleteText")}
                  remove={() => answer(api.DELETE("/api/v1/pipelines/{pipeline_id}", { params: { path } }))}
                  stale={["pipelines"]}
                  after={() => void navigate({ to: "/pipelines", ignoreBlocker: true })}
                />
              </div>
            ) : (
              <p className="text-sm text-quiet">{t("common.readOnly")}</p>
            )}
          </div>
        </form>
        <Tabs
          tabs={[
            {
              id: "dry-run",
              label: t("pipelines.dryRun"),
              content: <PipelineDryRun pipelineId={pipeline.pipeline_id} pipeline={bodyOf(displayed)} />,
            },
            {
              id: "preview",
              label: t("previews.title"),
              content: <PreviewChat target={{ kind: "pipeline", id: pipeline.pipeline_id }} unsaved={dirty} />,
            },
          ]}
        />
      </div>
    </PageBody>
  );
}

function AgentCard({
  pipeline,
  put,
  disabled,
}: {
  pipeline: Pipeline;
  put: (change: Partial<Pipeline>) => void;
  disabled: boolean;
}) {
  const { t } = useTranslation();
  const agents = useQuery(agentQueries.agents).data ?? [];
  return (
    <section className="space-y-4 rounded-card border border-line bg-surface p-4 shadow-card">
      <h2 className="font-medium">{t("routes.agent")}</h2>
      <Field label={t("field.name")} required>
        {(control) => (
          <Input
            {...control}
            required
            value={pipeline.name}
            disabled={disabled}
            onChange={(event) => put({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("pipelines.answeredBy")} required>
        {(control) => (
          <Select
            {...control}
            required
            value={pipeline.agent_id}
            disabled={disabled}
            onChange={(event) => put({ agent_id: event.target.value })}
          >
            {agents.map((each) => (
              <option key={each.agent_id} value={each.agent_id}>
                {each.name}
              </option>
            ))}
            {!agents.some((each) => each.agent_id === pipeline.agent_id) && (
              <option value={pipeline.agent_id}>{t("form.gone")}</option>
            )}
          </Select>
        )}
      </Field>
      <Field label={t("field.enabled")} beside>
        {(control) => (
          <Switch
            id={control.id}
            checked={pipeline.enabled}
            disabled={disabled}
            onChange={(enabled) => put({ enabled })}
          />
        )}
      </Field>
    </section>
  );
}
