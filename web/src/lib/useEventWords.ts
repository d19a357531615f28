// What an event's type means, in the language of the page; the type itself where it has no words.
import { useTranslation } from "react-i18next";

export function useEventWords(): (type: string) => string {
  const { t, i18n } = useTranslation();
  return (type) => {
    const key = `eventType.${type}`;
    return i18n.exists(key) ? t(key) : type;
  };
}
