// A step of a dry run in the language of the page. What the page has no words for yet is said as the Host says it.
import type { i18n as Words } from "i18next";

import type { DryRunStep } from "../../api/facts";

export function stepWords({ kind, name, code, values, text }: DryRunStep, { t, exists }: Pick<Words, "t" | "exists">): string {
  if (!exists(`dryRunReason.${code}`)) return text;
  const said = t(`dryRunReason.${code}`, values);
  return t(`dryRunStep.${kind}`, { name: kind === "default" ? t(`place.${name}`) : name, said });
}
