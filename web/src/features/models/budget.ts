// A budget while it is edited: money as a decimal, which the Host stores in millionths.
import type { Budget, BudgetBody, BudgetUse } from "../../api/types";

export type BudgetDraft = {
  name: string;
  scope: Budget["scope"];
  target: string;
  period: Budget["period"];
  tokens: string;
  money: string;
  enabled: boolean;
};

export const FRESH: BudgetDraft = {
  name: "",
  scope: "sender",
  target: "",
  period: "day",
  tokens: "",
  money: "",
  enabled: true,
};

export function draftOf(budget: Budget): BudgetDraft {
  const { name, scope, target, period, enabled } = budget;
  return {
    name,
    scope,
    target,
    period,
    enabled,
    tokens: budget.tokens === null ? "" : String(budget.tokens),
    money: budget.cost_micros === null ? "" : String(budget.cost_micros / 1_000_000),
  };
}

export function bodyOf(draft: BudgetDraft): BudgetBody {
  const { name, scope, period, enabled } = draft;
  return {
    name,
    scope,
    period,
    enabled,
    target: scope === "workspace" ? "" : draft.target.trim(),
    tokens: draft.tokens ? Math.round(Number(draft.tokens)) : null,
    cost_micros: draft.money ? Math.round(Number(draft.money) * 1_000_000) : null,
  };
}

/** Names the subject of a budget: ids are replaced by names, and `bot/user:7` becomes the user of that bot. */
export function subjectName(subject: string, names: Record<string, string>): string {
  const [first = "", ...rest] = subject.split("/");
  const label = names[subject] ?? [names[first] ?? first, ...rest].join(" · ");
  return label.replace(/(^| )user:/, "$1");
}

/** Returns the used share of a budget from 0 to 1, by the limit that is nearer. */
export function share(use: BudgetUse): number {
  const parts = (["tokens", "cost_micros"] as const).map((name) => {
    const remaining = use.left[name];
    return remaining === null ? 0 : use.used[name] / Math.max(1, use.used[name] + remaining);
  });
  return Math.min(1, Math.max(...parts));
}
