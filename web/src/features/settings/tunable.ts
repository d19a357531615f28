// The settings that apply at once, how each is edited, and the request that changes them.
import type { Settings } from "../../api/types";

export type Section = "retention" | "runs" | "workspace" | "logs";
export type Tunable = {
  section: Section;
  name: string;
  kind: "days" | "count" | "text" | "currency" | "list" | "level" | "language";
  min?: number;
};

export const TUNABLES: Tunable[] = [
  { section: "retention", name: "events_days", kind: "days" },
  { section: "retention", name: "run_events_days", kind: "days" },
  { section: "retention", name: "artifacts_days", kind: "days" },
  { section: "retention", name: "audit_days", kind: "days" },
  { section: "retention", name: "model_calls_days", kind: "days" },
  { section: "runs", name: "concurrent", kind: "count", min: 1 },
  { section: "runs", name: "per_person", kind: "count", min: 1 },
  { section: "runs", name: "per_sender_per_minute", kind: "count" },
  { section: "runs", name: "per_conversation_per_minute", kind: "count" },
  { section: "workspace", name: "time_zone", kind: "text" },
  { section: "workspace", name: "language", kind: "language" },
  { section: "workspace", name: "outbound_ips", kind: "list" },
  { section: "workspace", name: "currency", kind: "currency" },
  { section: "logs", name: "level", kind: "level" },
];

/** Values by `section.name`. */
export type Values = Record<string, unknown>;

export const nameOf = ({ section, name }: Tunable): string => `${section}.${name}`;

export function valuesOf(settings: Settings): Values {
  return Object.fromEntries(
    TUNABLES.map((each) => [nameOf(each), (settings[each.section] as Record<string, unknown>)[each.name]]),
  );
}

/** Returns the values that were changed; null resets a setting to the settings file. */
export function changesOf(before: Values, after: Values): Record<string, Record<string, unknown>> {
  const body: Record<string, Record<string, unknown>> = {};
  for (const each of TUNABLES) {
    const value = after[nameOf(each)];
    if (JSON.stringify(value) === JSON.stringify(before[nameOf(each)])) continue;
    (body[each.section] ??= {})[each.name] = value;
  }
  return body;
}
