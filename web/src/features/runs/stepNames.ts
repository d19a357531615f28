// The names of timeline steps in the language of the page.
import type { i18n as Words } from "i18next";

import { eventLabel } from "../../lib/useEventLabel";
import type { Step } from "./timelineModel";

/** Reasons of a normal end of a run. */
const ORDINARY_ENDS = ["stop", "completed"];

export function withReadableNames(
  steps: Step[],
  words: Pick<Words, "t" | "exists">,
  names: ReadonlyMap<string, string>,
): Step[] {
  return steps.map((step) => ({ ...step, name: readableName(step, words, names) }));
}

function readableName(
  { kind, name }: Step,
  words: Pick<Words, "t" | "exists">,
  names: ReadonlyMap<string, string>,
): string {
  const known = (key: string) => (words.exists(key) ? words.t(key) : name);
  if (kind === "event") return eventLabel(name, words);
  if (kind === "delivery") return names.get(name) ?? known(`surface.${name}`);
  if (kind === "action" || kind === "approval") return known(`action.${name.replace(/^elsewhere\//, "")}`);
  if (kind === "end" && ORDINARY_ENDS.includes(name)) return "";
  return name;
}
