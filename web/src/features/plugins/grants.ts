// Permissions as the Host takes them when they are granted (`key:value`), with the text that describes each.
import type { Choice } from "../../components/form/lists";

export type Asked = Record<string, string[]>;
export type Grant = { name: string; word: string; values: Record<string, string> };

/** Returns the text of a permission. Events and hosts share one text each; all others have their own.
 * A permission for a host says before it is granted that it opens the whole network. */
function wordOf(key: string, value: string): Pick<Grant, "word" | "values"> {
  if (key === "events")
    return value === "*" ? { word: "events.all", values: {} } : { word: "events.some", values: { events: value } };
  if (key === "network")
    return value === "*"
      ? { word: "network.any", values: {} }
      : { word: "network.unfiltered", values: { hosts: value } };
  return { word: `${key}.${value}`, values: {} };
}

export function grantsOf(requested: Asked): Grant[] {
  return Object.entries(requested).flatMap(([key, values]) =>
    values.map((value) => ({ name: `${key}:${value}`, ...wordOf(key, value) })),
  );
}

/** Returns the permissions for which an installation was refused. */
export function askedIn(details: unknown): Asked {
  return (details as { asked?: Asked } | null)?.asked ?? {};
}

export const namesOf = (granted: Asked): string[] => grantsOf(granted).map((grant) => grant.name);

export function choicesOf(requested: Asked, labelOf: (grant: Grant) => string): Choice[] {
  return grantsOf(requested).map((grant) => ({ value: grant.name, label: labelOf(grant), hint: grant.name }));
}
