// The names of timeline steps in the language of the page.
import type { i18n as Words } from "i18next";

import { eventLabel } from "../../lib/useEventLabel";
import type { Step } from "./timelineModel";

/** Reasons of a normal end of a run. */
const ORDINARY_ENDS = ["stop", "completed"];

export function withReadableNames(
  steps: Step[],
  i18n: Pick<Words, "t" | "exists">,
  names: ReadonlyMap<string, string>,
): Step[] {
  return steps.map((step) => ({ ...step, name: readableName(step, i18n, names) }));
}

function readableName(
  { kind, name }: Step,
  i18n: Pick<Words, "t" | "exists">,
  names: ReadonlyMap<string, string>,
): string {
  const translateOr = (key: string) => (i18n.exists(key) ? i18n.t(key) : name);
  if (kind === "event") return eventLabel(name, i18n);
  if (kind === "delivery") return names.get(name) ?? translateOr(`surface.${name}`);
  if (kind === "action" || kind === "approval") return translateOr(`action.${name.replace(/^elsewhere\//, "")}`);
  if (kind === "end" && ORDINARY_ENDS.includes(name)) return "";
  return name;
}
