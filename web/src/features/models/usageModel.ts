// Sums the usage and cost of models by model or by agent.
import type { UsageItem } from "../../api/types";

export type By = "model" | "agent";
/** `name` is empty if the model or agent was deleted, or if there was no agent. */
export type UsageRow = {
  key: string;
  name: string;
  calls: number;
  input: number;
  output: number;
  cost: number;
  unpriced: number;
  days: Map<string, number>;
};

/** Returns the highest cost first; without prices, the highest number of tokens. */
export function summed(items: UsageItem[], grouping: By): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const item of items) {
    const key = item[`${grouping}_id`] ?? "";
    const row = rows.get(key) ?? {
      key,
      name: item[`${grouping}_name`] ?? "",
      calls: 0,
      input: 0,
      output: 0,
      cost: 0,
      unpriced: 0,
      days: new Map<string, number>(),
    };
    const tokens = item.prompt_tokens + item.completion_tokens;
    row.days.set(item.day, (row.days.get(item.day) ?? 0) + tokens);
    rows.set(key, {
      ...row,
      calls: row.calls + item.calls,
      input: row.input + item.prompt_tokens,
      output: row.output + item.completion_tokens,
      cost: row.cost + item.cost_micros,
      unpriced: row.unpriced + item.unpriced_calls,
    });
  }
  return [...rows.values()].sort(
    (left, right) => right.cost - left.cost || right.input + right.output - left.input - left.output,
  );
}

/** Returns the last `count` days up to `today` (YYYY-MM-DD), including days without usage. */
export function lastDays(today: string, count: number): string[] {
  const end = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) =>
    new Date(end - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );
}
