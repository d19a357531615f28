// The form of a budget: a limit in tokens, in money, or both.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Budget } from "../../api/types";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { FormSnapshot } from "../../components/FormSnapshot";
import { LeaveGuard } from "../../components/LeaveGuard";
import { NumberInput } from "../../components/NumberInput";
import { Switch } from "../../components/Switch";
import { useSaveWithConflict } from "../../lib/useSaveWithConflict";
import * as agentQueries from "../agents/queries";
import { bodyOf, type BudgetDraft, draftOf, FRESH } from "./budget";
import * as modelQueries from "./queries";

const SCOPES = ["sender", "conversation", "agent", "workspace"];

export function BudgetForm({ budget, onDone }: { budget?: Budget; onDone: () => void }) {
  if (!budget) return <Form opened={null} onDone={onDone} />;
  return (
    <FormSnapshot query={modelQueries.budget(budget.budget_id)}>
      {(opened, reopen) => <Form opened={opened} onTheirs={reopen} onDone={onDone} />}
    </FormSnapshot>
  );
}

function Form({
  opened,
  onTheirs,
  onDone,
}: {
  opened: Versioned<Budget> | null;
  onTheirs?: (theirs: Versioned<Budget>) => void;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const budget = opened?.value;
  const [draft, setDraft] = useState(budget ? draftOf(budget) : FRESH);
  const [initial] = useState(draft);
  const update = (change: Partial<BudgetDraft>) => setDraft({ ...draft, ...change });
  const saving = useSaveWithConflict({
    base: opened,
    query: budget ? modelQueries.budget(budget.budget_id) : null,
    bodyOf: (each: Budget) => bodyOf(draftOf(each)),
    put: (body, over) => {
      if (!over) return answer(api.POST("/api/v1/budgets", { body }));
      return answer(
        api.PUT("/api/v1/budgets/{budget_id}", {
          params: { path: { budget_id: over.value.budget_id }, header: ifMatch(over) },
          body,
        }),
      );
    },
    stale: ["budgets"],
    after: onDone,
  });
  const problemAt = (field: string) => fieldMessage(saving.error, field);
  return (
    <form
      className="max-w-2xl space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        saving.save(bodyOf(draft));
      }}
    >
      <LeaveGuard dirty={!saving.isSuccess && JSON.stringify(draft) !== JSON.stringify(initial)} />
      <Field label={t("common.name")} required error={problemAt("name")}>
        {(control) => (
          <Input
            {...control}
            required
            placeholder={t("budgets.nameExample")}
            value={draft.name}
            onChange={(event) => update({ name: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("budgets.scope")} error={problemAt("scope")}>
          {(control) => (
            <Select
              {...control}
              value={draft.scope}
              onChange={(event) => update({ scope: event.target.value as Budget["scope"], target: "" })}
            >
              {SCOPES.map((scope) => (
                <option key={scope} value={scope}>
                  {t(`budgetScope.${scope}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t("budgets.period")} error={problemAt("period")}>
          {(control) => (
            <Select
              {...control}
              value={draft.period}
              onChange={(event) => update({ period: event.target.value as Budget["period"] })}
            >
              {["day", "total"].map((period) => (
                <option key={period} value={period}>
                  {t(`budgetPeriod.${period}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {draft.scope !== "workspace" && <Target draft={draft} put={update} error={problemAt("target")} />}
      </div>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("budgets.tokens")} hint={t("budgets.eitherHint")} error={problemAt("tokens")}>
          {(control) => (
            <NumberInput
              control={control}
              min={1}
              max={Number.MAX_SAFE_INTEGER}
              whole
              required={!draft.money}
              value={draft.tokens}
              onChange={(_, tokens) => update({ tokens })}
            />
          )}
        </Field>
        <Field label={t("budgets.money")} hint={t("budgets.moneyHint")} error={problemAt("cost_micros")}>
          {(control) => (
            <NumberInput
              control={control}
              min={0.000001}
              max={9_000_000_000}
              required={!draft.tokens}
              value={draft.money}
              onChange={(_, money) => update({ money })}
            />
          )}
        </Field>
      </div>
      <p className="text-sm text-quiet">{t("budgets.reserves")}</p>
      <div className="flex items-center gap-2 text-sm">
        <Switch label={t("common.enabled")} checked={draft.enabled} onChange={(enabled) => update({ enabled })} />{" "}
        {t("common.enabled")}
      </div>
      <ErrorMessage error={saving.error} />
      {onTheirs && (
        <ConflictNote
          name={draft.name}
          conflict={saving.conflict}
          busy={saving.isPending}
          onTheirs={onTheirs}
          onMine={saving.overwrite}
        />
      )}
      <div className="flex gap-2">
        <Button type="submit" weight="primary" busy={saving.isPending}>
          {t(budget ? "common.save" : "common.add")}
        </Button>
        <Button weight="quiet" onClick={onDone}>
          {t("common.cancel")}
        </Button>
      </div>
    </form>
  );
}

function Target({
  draft,
  put,
  error,
}: {
  draft: BudgetDraft;
  put: (change: Partial<BudgetDraft>) => void;
  error?: string;
}) {
  const { t } = useTranslation();
  const agents = useQuery(agentQueries.agents).data ?? [];
  return (
    <Field label={t("budgets.target")} hint={t("budgets.targetHint")} error={error}>
      {(control) =>
        draft.scope === "agent" ? (
          <Select {...control} value={draft.target} onChange={(event) => put({ target: event.target.value })}>
            <option value="">{t("budgets.each")}</option>
            {agents.map((agent) => (
              <option key={agent.agent_id} value={agent.agent_id}>
                {agent.name}
              </option>
            ))}
          </Select>
        ) : (
          <Input
            {...control}
            value={draft.target}
            placeholder={t("budgets.each")}
            onChange={(event) => put({ target: event.target.value })}
          />
        )
      }
    </Field>
  );
}
