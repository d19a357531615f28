// The page's own words, by the keys it knows them by: what is on a button is found by what it means.
import { readFileSync } from "node:fs";

export type Language = "en" | "zh-Hans";

const read = (language: Language) =>
  JSON.parse(readFileSync(new URL(`../../../web/src/locales/${language}.json`, import.meta.url), "utf8")) as Record<
    string,
    Record<string, string>
  >;
const BOOKS = { en: read("en"), "zh-Hans": read("zh-Hans") };

/** `word("chat.send")`, with what stands in its braces filled in. */
export function word(key: string, values: Record<string, string | number> = {}, language: Language = "en"): string {
  const [section, name] = key.split(".") as [string, string];
  const found = BOOKS[language][section]?.[name];
  if (found === undefined) throw new Error(`the page has no word for ${key}`);
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{{${name}}}`, String(value)), found);
}
