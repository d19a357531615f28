// One agent: its form, what it may use, how it behaves, and a test chat beside it.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Agent, Runner } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button, buttonClasses } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Field, Input } from "../../components/Field";
import { SchemaForm } from "../../components/form/SchemaForm";
import { useChoices } from "../../components/form/useChoices";
import { ofForm, prefilled } from "../../components/form/values";
import { ErrorNote, Loading } from "../../components/Notes";
import { Card, PageBody } from "../../components/Surfaces";
import { Switch } from "../../components/Switch";
import { Tabs } from "../../components/Tabs";
import { useSave } from "../../lib/useSave";
import { Talk } from "../chat/Talk";
import { useChat } from "../chat/useChat";
import { BehaviourFields, ResourceFields } from "./policies";

export default function AgentPage() {
  const { agentId } = useParams({ from: "/inside/agents/$agentId" });
  const agent = useQuery(queries.agent(agentId));
  const runners = useQuery(queries.runners);
  if (agent.error) return <div className="p-8"><ErrorNote error={agent.error} /></div>;
  if (!agent.data || !runners.data) return <div className="p-8"><Loading /></div>;
  return <Editor key={agentId} agent={agent.data} runner={runners.data.find((each) => each.id === agent.data.runner_id)} />;
}

function Editor({ agent, runner }: { agent: Agent; runner: Runner | undefined }) {
  const { t } = useTranslation();
  const { edit, operate } = useRights();
  const navigate = useNavigate();
  const choices = useChoices();
  const items = runner?.config_schema ?? [];
  const [draft, setDraft] = useState(agent);
  const [removing, setRemoving] = useState(false);
  const [discarded, setDiscarded] = useState(0);
  const dirty = JSON.stringify(draft) !== JSON.stringify(agent);
  const put = (change: Partial<Agent>) => setDraft((before) => ({ ...before, ...change }));
  const path = { params: { path: { agent_id: agent.agent_id } } };
  const saving = useSave((given: Agent) => {
    const { agent_id: _, ...body } = given;
    const runner_config = items.length ? ofForm(items, body.runner_config) : body.runner_config;
    // the shapes of policies are the Host's own answer given back
    return answer<Agent>(api.PUT("/api/v1/agents/{agent_id}", { ...path, body: { ...body, runner_config } as never }));
  }, ["agents"]);
  const deleting = useSave(() => answer(api.DELETE("/api/v1/agents/{agent_id}", path)), ["agents"], () => void navigate({ to: "/agents" }));
  useEffect(() => {
    if (saving.data) setDraft(saving.data);
  }, [saving.data]);
  const discard = () => {
    setDraft(agent);
    setDiscarded(discarded + 1); // controls that keep their own text begin anew
  };
  const messages = Object.fromEntries(items.map((item) => [item.name, fieldMessage(saving.error, `runner_config.${item.name}`)]));
  return (
    <PageBody
      wide
      title={agent.name}
      text={agent.description}
      actions={<Link to="/chat/$agentId" params={{ agentId: agent.agent_id }} className={buttonClasses("plain")}>{t("nav.chat")}</Link>}
    >
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <form
          key={discarded}
          onSubmit={(event) => {
            event.preventDefault();
            saving.mutate(draft);
          }}
        >
          <Card>
            <Tabs
              tabs={[
                {
                  id: "form",
                  label: t("agents.tabForm"),
                  content: (
                    <div className="space-y-5">
                      <Identity draft={draft} put={put} disabled={!edit} error={saving.error} />
                      {!runner && <ErrorNote error={new Error(t("agents.runnerGone", { runner: agent.runner_id }))} />}
                      <SchemaForm
                        items={items}
                        values={prefilled(items, draft.runner_config)}
                        onChange={(runner_config) => put({ runner_config })}
                        choices={choices}
                        messages={messages}
                        disabled={!edit}
                      />
                    </div>
                  ),
                },
                {
                  id: "resources",
                  label: t("agents.tabResources"),
                  content: <ResourceFields draft={draft} put={put} runner={runner} choices={choices} disabled={!edit} />,
                },
                { id: "behaviour", label: t("agents.tabBehaviour"), content: <BehaviourFields draft={draft} put={put} disabled={!edit} /> },
              ]}
            />
            <div className="mt-6 space-y-3 border-t border-line pt-4">
              <ErrorNote error={saving.error} />
              {edit ? (
                <div className="flex flex-wrap items-center gap-2">
                  <Button type="submit" weight="primary" busy={saving.isPending} disabled={!dirty}>{t("common.save")}</Button>
                  {dirty && <Button weight="quiet" onClick={discard}>{t("common.discard")}</Button>}
                  {!dirty && saving.isSuccess && <span role="status" className="text-sm text-good">{t("common.saved")}</span>}
                  <span className="flex-1" />
                  <Button weight="danger" onClick={() => setRemoving(true)}>{t("common.delete")}</Button>
                </div>
              ) : (
                <p className="text-sm text-quiet">{t("common.readOnly")}</p>
              )}
            </div>
          </Card>
        </form>
        {operate && <TestChat agentId={agent.agent_id} />}
      </div>
      <Confirm
        open={removing}
        title={t("agents.deleteTitle", { name: agent.name })}
        text={t("agents.deleteText")}
        action={t("common.delete")}
        busy={deleting.isPending}
        error={deleting.error}
        onConfirm={() => deleting.mutate(undefined)}
        onClose={() => setRemoving(false)}
      />
    </PageBody>
  );
}

type Part = { draft: Agent; put: (change: Partial<Agent>) => void; disabled: boolean };

function Identity({ draft, put, disabled, error }: Part & { error: unknown }) {
  const { t } = useTranslation();
  return (
    <>
      <div className="flex items-end gap-4">
        <div className="flex-1">
          <Field label={t("common.name")} required error={fieldMessage(error, "name")}>
            {(control) => <Input {...control} required value={draft.name} disabled={disabled} onChange={(event) => put({ name: event.target.value })} />}
          </Field>
        </div>
        <div className="flex h-10 items-center gap-2 text-sm">
          <Switch label={t("common.enabled")} checked={draft.enabled} disabled={disabled} onChange={(enabled) => put({ enabled })} />
          {t("common.enabled")}
        </div>
      </div>
      <Field label={t("common.description")}>
        {(control) => <Input {...control} value={draft.description} disabled={disabled} onChange={(event) => put({ description: event.target.value })} />}
      </Field>
    </>
  );
}

function TestChat({ agentId }: { agentId: string }) {
  const { t } = useTranslation();
  const chat = useChat(agentId);
  return (
    <section aria-label={t("agents.test")} className="sticky top-6 flex h-[min(42rem,80dvh)] flex-col overflow-hidden rounded-card border border-line bg-surface shadow-card">
      <div className="flex items-center justify-between border-b border-line px-4 py-2.5">
        <h2 className="font-semibold">{t("agents.test")}</h2>
        <Button small weight="quiet" onClick={() => void chat.anew()}>{t("chat.anew")}</Button>
      </div>
      <div className="min-h-0 flex-1"><Talk agentId={agentId} chat={chat} narrow /></div>
    </section>
  );
}
