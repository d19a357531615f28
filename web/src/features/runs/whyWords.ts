// The sentences of a trail in the language of the page. What the page has no words for yet is said as the Host says it.
import type { i18n as Words } from "i18next";

import type { WhyStep } from "../../api/facts";

export function whyWords({ text, sentences }: Pick<WhyStep, "text" | "sentences">, { t, exists }: Pick<Words, "t" | "exists">): string {
  if (sentences.length === 0 || !sentences.every(({ code }) => exists(`why.${code}`))) return text;
  return sentences
    .map(({ code, values }) => {
      const kind = `whyKind.${String(values.kind)}`;
      return t(`why.${code}`, { ...values, ...(exists(kind) && { what: t(kind) }) });
    })
    .join(" ");
}
