// The metrics of the home page without rendering. The Host leaves out empty hours; they are added here.
const HOUR = 3_600_000;
const COLUMNS = 48;

export type Hours = { hour: number } & Record<string, number>;
export type Point = { at: number; value: number; bad: number };
export type Metric = {
  name: "messages" | "runs" | "failed" | "latency" | "tokens" | "cost";
  of: (sums: Record<string, number>) => number;
  /** The failed part of the metric. */
  bad?: (sums: Record<string, number>) => number;
};

/** Returns the sum of all counters with this prefix. */
export function amount(item: Record<string, number>, prefix: string): number {
  return Object.entries(item).reduce((sum, [name, value]) => (name.startsWith(prefix) ? sum + value : sum), 0);
}

const failed = (sums: Record<string, number>) =>
  amount(sums, "runs.") - (sums["runs.completed"] ?? 0) - (sums["runs.cancelled"] ?? 0);

export const METRICS: Metric[] = [
  { name: "messages", of: (sums) => sums["events.message.received"] ?? 0 },
  { name: "runs", of: (sums) => amount(sums, "runs."), bad: failed },
  { name: "failed", of: failed, bad: failed },
  { name: "latency", of: (sums) => (amount(sums, "runs.") ? (sums.run_milliseconds ?? 0) / amount(sums, "runs.") : 0) },
  { name: "tokens", of: (sums) => (sums.prompt_tokens ?? 0) + (sums.completion_tokens ?? 0) },
  { name: "cost", of: (sums) => sums.cost_micros ?? 0 },
];

/** Returns at most 48 columns; each stands for as many hours as that takes. */
export function series(
  items: Hours[],
  hours: number,
  now: number,
  of: Metric["of"],
  bad: Metric["of"] = () => 0,
): Point[] {
  const width = Math.max(1, Math.ceil(hours / COLUMNS));
  const last = Math.floor(now / HOUR);
  const columns = Math.ceil(hours / width);
  const sums = Array.from({ length: columns }, (): Record<string, number> => ({}));
  for (const { hour, ...item } of items) {
    const column = sums[columns - 1 - Math.floor((last - Math.floor(hour / HOUR)) / width)];
    if (column) for (const [name, value] of Object.entries(item)) column[name] = (column[name] ?? 0) + value;
  }
  return sums.map((sum, index) => ({
    at: (last - (columns - 1 - index) * width - (width - 1)) * HOUR,
    value: of(sum),
    bad: bad(sum),
  }));
}

/** Returns the next round number above, whose half is round too; numbers below ten are whole. */
export function roundUp(maximum: number): number {
  if (maximum <= 0) return 2;
  const power = 10 ** Math.floor(Math.log10(maximum));
  const steps = power === 1 ? [2, 4, 6, 8, 10] : [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10];
  return (steps.find((step) => step * power >= maximum * 0.9999) ?? 10) * power;
}
