// The conditions of a route, with a short summary of each.
import type { Fields } from "../../api/types";

export const CONDITIONS = [
  "chat_type",
  "mentions_bot",
  "text_prefix",
  "text_keyword",
  "text_regex",
  "users",
  "groups",
  "roles",
  "time_window",
  "probability",
  "data",
] as const;
export type Condition = (typeof CONDITIONS)[number];

export type TimeWindow = { from: string; to: string; days: string[]; timezone: string };

export const listed = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.map(String)
    : value === undefined || value === null || value === ""
      ? []
      : [String(value)];

/** Returns the value of a new condition; required text is still empty. */
export function initialValue(condition: Condition, timezone: string): unknown {
  switch (condition) {
    case "chat_type":
      return "private";
    case "mentions_bot":
      return true;
    case "probability":
      return 0.5;
    case "time_window":
      return { from: "09:00", to: "18:00", days: [], timezone } satisfies TimeWindow;
    case "text_regex":
      return "";
    case "data":
      return {};
    default:
      return [];
  }
}

/** Removes empty conditions, which the Host refuses. */
export function withoutEmpty(filters: Fields): Fields {
  const empty = (value: unknown) =>
    value === "" ||
    value === null ||
    value === undefined ||
    Number.isNaN(value) ||
    (typeof value === "object" && Object.keys(value).length === 0);
  const described = { ...filters, ...(filters.data ? { data: withLabels(filters.data as Fields) } : {}) };
  return Object.fromEntries(Object.entries(described).filter(([, value]) => !empty(value)));
}

const withLabels = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([path]) => path.trim() !== ""));

type Said = { key: string; values: Record<string, string> };

export function summaries(filters: Fields): Said[] {
  return CONDITIONS.filter((name) => withoutEmpty(filters)[name] !== undefined).map((name) =>
    describe(name, filters[name]),
  );
}

function describe(name: Condition, value: unknown): Said {
  switch (name) {
    case "chat_type":
      return { key: String(value), values: {} };
    case "mentions_bot":
      return { key: value ? "mentioned" : "unmentioned", values: {} };
    case "probability":
      return { key: name, values: { percent: `${Math.round(Number(value) * 1000) / 10} %` } };
    case "time_window":
      return { key: name, values: { from: (value as TimeWindow).from, to: (value as TimeWindow).to } };
    case "data":
      return { key: name, values: { names: Object.keys(value as Fields).join(", ") } };
    default:
      return { key: name, values: { names: shortened(listed(value)) } };
  }
}

const shortened = (names: string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} …` : names.join(", ");

/** Parses a value: `true` and `7` become JSON values, everything else is text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export const textOf = (value: unknown): string =>
  typeof value === "string" && valueOf(value) === value ? value : JSON.stringify(value);
