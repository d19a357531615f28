// The text of a step of a dry run in the language of the page, or the Host's text where the page has none.
import type { i18n as Words } from "i18next";

import type { DryRunStep } from "../../api/types";
import { eventLabel } from "../../lib/useEventLabel";

export function stepWords(
  { kind, name, code, values, text }: DryRunStep,
  { t, exists }: Pick<Words, "t" | "exists">,
): string {
  if (!exists(`dryRunReason.${code}`)) return text;
  const words = { t, exists };
  const translateOr = (key: string, otherwise: string) => (exists(key) ? t(key) : otherwise);
  const filters = String(values.filters ?? "")
    .split(", ")
    .map((each) => translateOr(`filter.${each}`, each))
    .join(", ");
  const sentence = t(`dryRunReason.${code}`, {
    ...values,
    ...(values.filters !== undefined && { filters }),
    ...(values.event_type !== undefined && { event_type: eventLabel(String(values.event_type), words) }),
    ...(code === "chat_type" && {
      found: translateOr(`filter.${String(values.found)}`, String(values.found)),
      wanted: translateOr(`filter.${String(values.wanted)}`, String(values.wanted)),
    }),
    ...(code === "roles" && { role: translateOr(`memberRole.${String(values.role)}`, String(values.role)) }),
  });
  return t(`dryRunStep.${kind}`, {
    name: kind === "default" ? t(`place.${name}`) : eventLabel(name, words),
    said: sentence,
  });
}
