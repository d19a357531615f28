// The label of an event type in the language of the page, or the type itself where the page has none.
import type { i18n as Words } from "i18next";
import { useTranslation } from "react-i18next";

export function eventLabel(type: string, { t, exists }: Pick<Words, "t" | "exists">): string {
  // a single word, such as `group`, is a section of the texts and not a type
  const key = `eventType.${type}`;
  return (type === "*" || type.includes(".")) && exists(key) ? t(key) : type;
}

export function useEventLabel(): (type: string) => string {
  const { i18n } = useTranslation();
  return (type) => eventLabel(type, i18n);
}
