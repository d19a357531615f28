// The languages of the page. English is always there; others are loaded when they are chosen.
import i18next from "i18next";
import { initReactI18next } from "react-i18next";

import en from "../locales/en.json";
import { read, write } from "./localStorage";

export const LANGUAGES = { en: "English", "zh-Hans": "简体中文" } as const;
export type Language = keyof typeof LANGUAGES;

function preferred(): Language {
  const stored = read("language");
  if (stored && stored in LANGUAGES) return stored as Language;
  return navigator.language.startsWith("zh") ? "zh-Hans" : "en";
}

export async function changeLanguage(language: Language): Promise<void> {
  if (language !== "en" && !i18next.hasResourceBundle(language, "translation")) {
    const messages = await import("../locales/zh-Hans.json");
    i18next.addResourceBundle(language, "translation", messages.default);
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  write("language", language);
}

export async function startLanguage(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: "en",
    fallbackLng: "en",
    resources: { en: { translation: en } },
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  const language = preferred();
  if (language !== "en") await changeLanguage(language);
}
