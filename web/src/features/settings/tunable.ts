// The settings that apply at once, how each is edited, and the request that changes them.
import type { Settings } from "../../api/types";
import declared from "../../api/runtime_settings.json";

export type Section = "retention" | "runs" | "workspace" | "logs";
export type Tunable = {
  section: Section;
  name: string;
  kind: "number" | "text" | "currency" | "list" | "choice";
  min?: number;
  max?: number;
  whole?: boolean;
  choices?: string[];
};
type Schema = { type: string; minimum?: number; maximum?: number; enum?: string[] };

function kindOf(name: string, schema: Schema): Tunable["kind"] {
  if (schema.enum) return "choice";
  if (schema.type === "array") return "list";
  if (schema.type !== "string") return "number";
  return name === "currency" ? "currency" : "text";
}

/** As the Host declares them: `make documents` writes the file. */
export const TUNABLES: Tunable[] = declared.map(
  ({ section, name, schema }: { section: string; name: string; schema: Schema }) => ({
    section: section as Section,
    name,
    kind: kindOf(name, schema),
    min: schema.minimum,
    max: schema.maximum,
    whole: schema.type === "integer",
    choices: schema.enum,
  }),
);

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
