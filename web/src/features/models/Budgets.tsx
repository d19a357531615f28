// Budgets, and how much of each is used.
import { useQuery } from "@tanstack/react-query";
import { Pencil, Plus, Wallet } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Budget, BudgetUse } from "../../api/types";
import { useRights } from "../../app/session";
import { Button, IconButton } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, Card } from "../../components/Layout";
import { classes } from "../../lib/classes";
import { formatCost, formatNumber } from "../../lib/format";
import * as agentQueries from "../agents/queries";
import * as botQueries from "../bots/queries";
import { share, subjectName } from "./budget";
import { BudgetForm } from "./BudgetForm";
import * as modelQueries from "./queries";

const SHOWN = 5;

export function Budgets() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const budgets = useQuery(modelQueries.budgets);
  const [adding, setAdding] = useState(false);
  if (budgets.error) return <ErrorMessage error={budgets.error} />;
  if (!budgets.data) return <Loading />;
  const add = edit && !adding && (
    <Button onClick={() => setAdding(true)}>
      <Plus aria-hidden className="size-4" /> {t("budgets.add")}
    </Button>
  );
  if (budgets.data.length === 0 && !adding)
    return (
      <Empty icon={<Wallet />} title={t("budgets.empty")} text={t("budgets.emptyText")}>
        {add}
      </Empty>
    );
  return (
    <div className="space-y-4">
      {budgets.data.map((budget) => (
        <BudgetCard key={budget.budget_id} budget={budget} />
      ))}
      {adding && (
        <Card title={t("budgets.add")}>
          <BudgetForm onDone={() => setAdding(false)} />
        </Card>
      )}
      {add}
    </div>
  );
}

function BudgetCard({ budget }: { budget: Budget }) {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const [editing, setEditing] = useState(false);
  const limits = [
    budget.tokens === null ? "" : t("budgets.tokensOf", { tokens: formatNumber(budget.tokens, i18n.language) }),
    budget.cost_micros === null ? "" : t("budgets.moneyOf", { money: formatCost(budget.cost_micros) }),
  ].filter(Boolean);
  return (
    <Card>
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold">
            {budget.name} {!budget.enabled && <Badge tone="warn">{t("common.disabled")}</Badge>}
          </h2>
          <p className="text-sm text-quiet">
            {t(`budgetScope.${budget.scope}`)}
            {budget.target && ` ${budget.target}`} · {t(`budgetPeriod.${budget.period}`)} · {limits.join(", ")}
          </p>
        </div>
        {edit && (
          <div className="flex">
            <IconButton
              label={t("budgets.edit", { name: budget.name })}
              aria-expanded={editing}
              onClick={() => setEditing(!editing)}
            >
              <Pencil className="size-4" />
            </IconButton>
            <DeleteButton
              icon
              label={t("budgets.delete", { name: budget.name })}
              title={t("models.deleteProvider", { name: budget.name })}
              text={t("budgets.deleteText")}
              remove={() =>
                answer(api.DELETE("/api/v1/budgets/{budget_id}", { params: { path: { budget_id: budget.budget_id } } }))
              }
              stale={["budgets"]}
            />
          </div>
        )}
      </div>
      {editing && (
        <div className="my-4 rounded-card bg-raised/50 p-4">
          <BudgetForm budget={budget} onDone={() => setEditing(false)} />
        </div>
      )}
      <Uses uses={budget.uses} />
    </Card>
  );
}

function Uses({ uses }: { uses: BudgetUse[] }) {
  const { t } = useTranslation();
  const bots = useQuery(botQueries.bots).data ?? [];
  const agents = useQuery(agentQueries.agents).data ?? [];
  const names = Object.fromEntries([
    ...bots.map((bot) => [bot.bot_id, bot.name]),
    ...agents.map((agent) => [agent.agent_id, agent.name]),
  ]) as Record<string, string>;
  if (uses.length === 0) return <p className="mt-3 text-sm text-quiet">{t("budgets.unused")}</p>;
  return (
    <ul className="mt-4 space-y-3">
      {uses.slice(0, SHOWN).map((use) => (
        <UseRow key={use.subject} use={use} name={subjectName(use.subject, names)} />
      ))}
      {uses.length > SHOWN && (
        <li className="text-sm text-quiet">{t("budgets.others", { count: uses.length - SHOWN })}</li>
      )}
    </ul>
  );
}

function UseRow({ use, name }: { use: BudgetUse; name: string }) {
  const { t, i18n } = useTranslation();
  const part = share(use);
  const usageText = t("budgets.used", {
    tokens: formatNumber(use.used.tokens, i18n.language),
    money: formatCost(use.used.cost_micros),
  });
  return (
    <li className="text-sm">
      <div className="flex flex-wrap justify-between gap-x-3">
        <span className="min-w-0 truncate">{name || t("budgetScope.workspace")}</span>
        <span className="text-quiet tabular-nums">{usageText}</span>
      </div>
      <div
        role="meter"
        aria-label={usageText}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(part * 100)}
        className="mt-1 h-1.5 overflow-hidden rounded-full bg-raised"
      >
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="h-full w-full">
          <rect
            width={part * 100}
            height="1"
            className={classes(part >= 0.9 ? "fill-bad" : part >= 0.7 ? "fill-warn" : "fill-accent")}
          />
        </svg>
      </div>
    </li>
  );
}
