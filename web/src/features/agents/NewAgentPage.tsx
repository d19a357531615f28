// The page that creates an agent from a name and a runner.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Fields } from "../../api/types";
import { Button, buttonClasses } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { SchemaForm } from "../../components/form/SchemaForm";
import { newForm, ofForm } from "../../components/form/values";
import { Card, PageBody } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";
import { ConnectionTest } from "./ConnectionTest";
import * as agentQueries from "./queries";
import { RunnerPicker } from "./RunnerPicker";
import { useChoices } from "./useChoices";

const USUAL = "parlour/local-agent";

export default function NewAgentPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const runners = useQuery(agentQueries.runners);
  const choices = useChoices();
  const [name, setName] = useState("");
  const [selected, setSelected] = useState("");
  const [changes, setChanges] = useState<Fields | null>(null);
  const runner =
    runners.data?.find((each) => each.id === selected) ??
    runners.data?.find((each) => each.plugin.id === USUAL) ??
    runners.data?.[0];
  const items = runner?.config_schema ?? [];
  // Settings that must be filled in are asked for here; those of all other runners can wait for the agent's own page.
  const asked = items.some((item) => item.required && (item.default ?? "") === "");
  const config = ofForm(items, changes ?? newForm(items, choices.models));
  const creating = useSave(
    () =>
      answer(
        api.POST("/api/v1/agents", {
          body: { name, runner_id: runner?.id ?? "", runner_config: config },
        }),
      ),
    ["agents"],
    (agent) => void navigate({ to: "/agents/$agentId", params: { agentId: agent.agent_id }, ignoreBlocker: true }),
  );
  if (runners.data?.length === 0) {
    return (
      <PageBody title={t("agents.create")}>
        <Empty title={t("agents.noRunner")} text={t("agents.noRunnerText")}>
          <Link to="/plugins" className={buttonClasses("primary")}>
            {t("nav.plugins")}
          </Link>
        </Empty>
      </PageBody>
    );
  }
  return (
    <PageBody title={t("agents.create")} text={t("agents.createText")}>
      <Card>
        {runners.isPending && <Loading />}
        <form
          className="space-y-5"
          onSubmit={(event) => {
            event.preventDefault();
            creating.mutate(undefined);
          }}
        >
          <LeaveGuard dirty={name !== "" || changes !== null} />
          <Field label={t("common.name")} required error={fieldMessage(creating.error, "name")}>
            {(control) => (
              <Input {...control} required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          {runner && (
            <RunnerPicker
              runners={runners.data ?? []}
              chosen={runner.id}
              onChoose={(id) => {
                setSelected(id);
                setChanges(null);
              }}
            />
          )}
          {runner && asked && (
            <div className="space-y-5 border-t border-line pt-5">
              <SchemaForm
                key={runner.id}
                items={items}
                values={config}
                onChange={setChanges}
                choices={choices}
                messages={Object.fromEntries(
                  items.map((item) => [item.name, fieldMessage(creating.error, `runner_config.${item.name}`)]),
                )}
              />
              {runner.capabilities.connection_test && (
                <ConnectionTest key={runner.id} runner={runner} config={config} />
              )}
            </div>
          )}
          <ErrorMessage error={creating.error} />
          <Button type="submit" weight="primary" busy={creating.isPending}>
            {t("common.create")}
          </Button>
        </form>
      </Card>
    </PageBody>
  );
}
