// The page of one agent: settings, permissions, behaviour, and a test chat.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { MessageCircle } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { isGone } from "../../api/problem";
import type { Agent, AgentBody, Runner } from "../../api/types";
import { NotFoundPage } from "../../app/ErrorPages";
import { useRights } from "../../app/session";
import { Button, buttonClasses } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { ofForm, prefilled } from "../../components/form/values";
import { PageBody } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { type Tab, Tabs } from "../../components/Tabs";
import { useBase, useSaveWithConflict } from "../../lib/useSaveWithConflict";
import { ApprovalFields } from "./ApprovalFields";
import { BoxFields } from "./BoxFields";
import { MemoryFields } from "./MemoryFields";
import { PolicyFields } from "../policies/PolicyFields";
import { BehaviourFields } from "./BehaviourFields";
import { type AgentForm, AgentFormContext } from "./formContext";
import { requestedActions } from "./permissions";
import * as agentQueries from "./queries";
import { ResourceFields } from "./ResourceFields";
import { SettingsFields } from "./SettingsFields";
import { TestChat } from "./TestChat";
import { ToolPolicyFields } from "./ToolPolicyFields";
import { useChoices } from "./useChoices";

export default function AgentPage() {
  const { agentId } = useParams({ from: "/authenticated/agents/$agentId" });
  const agent = useQuery(agentQueries.agent(agentId));
  const runners = useQuery(agentQueries.runners);
  const problem = agent.error ?? runners.error;
  if (isGone(problem)) return <NotFoundPage />;
  if (problem)
    return (
      <div className="p-8">
        <ErrorMessage error={problem} />
      </div>
    );
  if (!agent.data || !runners.data)
    return (
      <div className="p-8">
        <Loading />
      </div>
    );
  return <Editor key={agentId} current={agent.data} runners={runners.data} />;
}

/** Fills in the defaults that the form shows, so that a default that is cleared stays empty. */
function prefilledAgent(agent: Agent, runners: Runner[]): Agent {
  const items = runners.find((runner) => runner.id === agent.runner_id)?.config_schema ?? [];
  return { ...agent, runner_config: prefilled(items, agent.runner_config) };
}

function bodyOf(agent: Agent, runners: Runner[]): Omit<Agent, "agent_id"> {
  const { agent_id: _, ...body } = prefilledAgent(agent, runners);
  const runner = runners.find((each) => each.id === agent.runner_id);
  return { ...body, runner_config: runner ? ofForm(runner.config_schema, body.runner_config) : body.runner_config };
}

function Editor({ current, runners }: { current: Versioned<Agent>; runners: Runner[] }) {
  const { t } = useTranslation();
  const { edit, operate } = useRights();
  const navigate = useNavigate();
  const choices = useChoices();
  const [draft, setDraft] = useState<Agent | null>(null);
  const [times, setTimes] = useState(0);
  const base = useBase(current, draft !== null);
  const agent = base.value;
  const displayed = draft ?? prefilledAgent(agent, runners);
  const runner = runners.find((each) => each.id === displayed.runner_id);
  const dirty = draft !== null && JSON.stringify(draft) !== JSON.stringify(prefilledAgent(agent, runners));
  const saving = useSaveWithConflict({
    base,
    query: agentQueries.agent(agent.agent_id),
    bodyOf: (each: Agent) => bodyOf(each, runners),
    // the document types the policies of a response more loosely than those of a request
    put: (body, over) =>
      answer(
        api.PUT("/api/v1/agents/{agent_id}", {
          params: { path: { agent_id: agent.agent_id }, header: ifMatch(over) },
          body: body as AgentBody,
        }),
      ),
    stale: ["agents"],
    after: () => setDraft(null),
  });
  const discard = () => {
    setDraft(null);
    saving.reset();
    setTimes(times + 1); // resets controls that keep their own text
  };
  const form: AgentForm = {
    draft: displayed,
    put: (change) => setDraft((previous) => ({ ...(previous ?? displayed), ...change })),
    disabled: !edit,
    runner,
    choices,
  };
  const tabs: Tab[] = [
    {
      id: "form",
      label: t("agents.tabForm"),
      content: <SettingsFields error={saving.error} runners={runners} />,
    },
    {
      id: "resources",
      label: t("agents.tabResources"),
      content: <ResourceFields />,
    },
    ...(requestedActions(runner).length > 0
      ? [{ id: "actions", label: t("agents.tabActions"), content: <ApprovalFields /> }]
      : []),
    {
      id: "messages",
      label: t("agents.tabMessages"),
      content: (
        <PolicyFields
          policy={displayed.message_policy}
          disabled={!edit}
          onChange={(message_policy) => form.put({ message_policy })}
        />
      ),
    },
    ...(runner?.capabilities.tool_calling
      ? [
          { id: "toolPolicy", label: t("agents.tabToolPolicy"), content: <ToolPolicyFields /> },
          { id: "box", label: t("agents.tabBox"), content: <BoxFields /> },
          { id: "memory", label: t("agents.tabMemory"), content: <MemoryFields agentId={agent.agent_id} /> },
        ]
      : []),
    { id: "behaviour", label: t("agents.tabBehaviour"), content: <BehaviourFields /> },
  ];
  return (
    <PageBody
      wide
      title={agent.name}
      text={agent.description}
      actions={
        <Link to="/chat/$agentId" params={{ agentId: agent.agent_id }} className={buttonClasses("plain")}>
          <MessageCircle aria-hidden className="size-4" /> {t("nav.chat")}
        </Link>
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <form
          key={times}
          className="rounded-card border border-line bg-surface shadow-card"
          onSubmit={(event) => {
            event.preventDefault();
            saving.save(bodyOf(displayed, runners));
          }}
        >
          <LeaveGuard dirty={dirty} spansTabs />
          <div className="px-5 pt-3 pb-5">
            <AgentFormContext value={form}>
              <Tabs tabs={tabs} />
            </AgentFormContext>
          </div>
          <div className="sticky bottom-0 space-y-3 rounded-b-card border-t border-line bg-surface px-5 py-3">
            <ErrorMessage error={saving.error} />
            <ConflictNote
              name={agent.name}
              conflict={saving.conflict}
              busy={saving.isPending}
              items={runner?.config_schema}
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
                  title={t("agents.deleteTitle", { name: agent.name })}
                  text={t("agents.deleteText")}
                  remove={() =>
                    answer(api.DELETE("/api/v1/agents/{agent_id}", { params: { path: { agent_id: agent.agent_id } } }))
                  }
                  stale={["agents"]}
                  after={() => void navigate({ to: "/agents", ignoreBlocker: true })}
                />
              </div>
            ) : (
              <p className="text-sm text-quiet">{t("common.readOnly")}</p>
            )}
          </div>
        </form>
        {operate && <TestChat agentId={agent.agent_id} unsaved={dirty} />}
      </div>
    </PageBody>
  );
}
