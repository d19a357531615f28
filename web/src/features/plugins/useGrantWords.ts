// The meaning of a permission in the language of the page, or the Host's sentence where the page has none.
import { useTranslation } from "react-i18next";

export function useGrantWords(): (word: string, values: Record<string, string>, otherwise: string) => string {
  const { t, i18n } = useTranslation();
  return (word, values, otherwise) => {
    const key = `permission.${word}`;
    const sentence = i18n.exists(key) ? t(key, values) : otherwise;
    return sentence.charAt(0).toUpperCase() + sentence.slice(1);
  };
}
