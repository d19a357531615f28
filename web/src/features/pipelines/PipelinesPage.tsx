// All pipelines, and the word lists that filters share.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Workflow } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { useRights } from "../../app/session";
import { Avatar } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { Badge, Card, PageBody } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { useSave } from "../../lib/useSave";
import * as agentQueries from "../agents/queries";
import { WordLists } from "../policies/WordLists";
import * as pipelineQueries from "./queries";

export default function PipelinesPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const pipelines = useQuery(pipelineQueries.pipelines);
  const agents = useQuery(agentQueries.agents).data ?? [];
  return (
    <PageBody title={t("nav.pipelines")} text={t("pipelines.text")}>
      <div className="space-y-6">
        <ErrorMessage error={pipelines.error} />
        {pipelines.isPending && <Loading />}
        {pipelines.data?.length === 0 && (
          <Empty icon={<Workflow />} title={t("pipelines.empty")} text={t("pipelines.emptyText")} />
        )}
        {!!pipelines.data?.length && (
          <Rows>
            {pipelines.data.map((pipeline) => (
              <Row
                key={pipeline.pipeline_id}
                sign={<Avatar name={pipeline.name} />}
                title={
                  <Link
                    to="/pipelines/$pipelineId"
                    params={{ pipelineId: pipeline.pipeline_id }}
                    className="hover:underline"
                  >
                    {pipeline.name}
                  </Link>
                }
                text={pipeline.problem ?? pipeline.description}
                marks={
                  <>
                    <Badge>
                      <span className="max-w-48 truncate">
                        {agents.find((each) => each.agent_id === pipeline.agent_id)?.name ?? t("form.gone")}
                      </span>
                    </Badge>
                    {pipeline.problem && <Badge tone="warn">{t("pipelines.silent")}</Badge>}
                  </>
                }
              />
            ))}
          </Rows>
        )}
        {edit && <NewPipeline agents={agents} />}
        <WordLists />
      </div>
    </PageBody>
  );
}

function NewPipeline({ agents }: { agents: { agent_id: string; name: string }[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [agentId, setAgentId] = useState("");
  const saving = useSave(
    () => answer(api.POST("/api/v1/pipelines", { body: { name, agent_id: agentId } })),
    ["pipelines"],
    (made) => void navigate({ to: "/pipelines/$pipelineId", params: { pipelineId: made.pipeline_id } }),
  );
  return (
    <Card title={t("pipelines.create")}>
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate(undefined);
        }}
      >
        <Field label={t("field.name")} required>
          {(control) => <Input {...control} required value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label={t("routes.agent")} required>
          {(control) => (
            <Select {...control} required value={agentId} onChange={(event) => setAgentId(event.target.value)}>
              <option value="">{t("routes.chooseAgent")}</option>
              {agents.map((each) => (
                <option key={each.agent_id} value={each.agent_id}>
                  {each.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Button type="submit" weight="primary" busy={saving.isPending}>
          {t("pipelines.create")}
        </Button>
      </form>
      <ErrorMessage error={saving.error} />
    </Card>
  );
}
