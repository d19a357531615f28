// Words in the language of the page, and figures, times and spans as people read them.
import type { Text } from "../api/facts";

const NAMES: Record<string, string> = { en: "en_US", "zh-Hans": "zh_Hans" };

/** What plugins and adapters say in several languages, in the one at hand. */
export function worded(text: Text | string | null | undefined, language: string): string {
  if (!text) return "";
  if (typeof text === "string") return text;
  return text[NAMES[language] ?? language] ?? text.en_US ?? Object.values(text)[0] ?? "";
}

export function moment(at: number | null | undefined, language: string): string {
  if (!at) return "–";
  const today = new Date(at).toDateString() === new Date().toDateString();
  const day = today ? {} : ({ month: "short", day: "numeric" } as const);
  return new Intl.DateTimeFormat(language, { ...day, hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(at);
}

export function span(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

export function figure(amount: number, language: string): string {
  return new Intl.NumberFormat(language, { notation: amount >= 100_000 ? "compact" : "standard" }).format(amount);
}

/** Millionths of the providers' currency. */
export function cost(micros: number): string {
  if (micros === 0) return "0";
  return (micros / 1_000_000).toFixed(micros < 10_000 ? 4 : 2);
}

export function short(id: string): string {
  return id.slice(-8);
}
