// The figures of two runs in comparison, without rendering.
import type { RunSide, Usage } from "../../api/types";
import { formatCost } from "../../lib/format";

export function tokens(side: Pick<RunSide, "usage">): number {
  return (side.usage.prompt_tokens ?? 0) + (side.usage.completion_tokens ?? 0);
}

export function durationOf(side: Pick<RunSide, "started_at" | "finished_at">): number | null {
  return side.started_at && side.finished_at ? side.finished_at - side.started_at : null;
}

/** Returns the difference in percent, or null if there is nothing to compare with. */
export function percentChange(value: number | null, reference: number | null): number | null {
  if (value === null || reference === null || reference === 0) return null;
  return Math.round(((value - reference) / reference) * 100);
}

/** Formats a cost; with unpriced calls it is a lower bound, or unknown. */
export function costOf(usage: Usage, unknown: string): string {
  if (!usage.unpriced_calls) return formatCost(usage.cost_micros ?? 0);
  return usage.cost_micros ? `≥ ${formatCost(usage.cost_micros)}` : unknown;
}
