// Formats texts, numbers, times, durations and money in the language of the page.
import i18next from "i18next";

import type { Text } from "../api/types";

const NAMES: Record<string, string> = { en: "en_US", "zh-Hans": "zh_Hans" };

/** Returns a text of a plugin or an adapter in the language of the page. */
export function localized(text: Text | string | null | undefined, language: string): string {
  if (!text) return "";
  if (typeof text === "string") return text;
  return text[NAMES[language] ?? language] ?? text.en_US ?? Object.values(text)[0] ?? "";
}

const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
const DAY = { month: "short", day: "numeric" } as const;
const formats = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();

/** Caches a format: creating one costs more than a hundred uses, and a list uses the same for every row. */
function cached<Format extends Intl.DateTimeFormat | Intl.NumberFormat>(name: string, make: () => Format): Format {
  if (!formats.has(name)) formats.set(name, make());
  return formats.get(name) as Format;
}

/** Formats date and time, with the year if it is not the current one. */
export function formatTime(at: number | null | undefined, language: string): string {
  if (!at) return "–";
  const thisYear = new Date(at).getFullYear() === new Date().getFullYear();
  const dated = thisYear ? { ...DAY, ...TIME } : ({ year: "numeric", ...DAY, ...TIME } as const);
  return cached(`moment ${thisYear} ${language}`, () => new Intl.DateTimeFormat(language, dated)).format(at);
}

/** Formats the time until a moment, or since it. */
export function fromNow(at: number, now: number, language: string): string {
  const minutes = (at - now) / 60_000;
  const [unit, amount]: ["day" | "hour" | "minute", number] =
    Math.abs(minutes) >= 2880
      ? ["day", minutes / 1440]
      : Math.abs(minutes) >= 120
        ? ["hour", minutes / 60]
        : ["minute", minutes];
  return new Intl.RelativeTimeFormat(language, { numeric: "always" }).format(Math.round(amount), unit);
}

export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

export function formatNumber(amount: number, language: string): string {
  const options = amount >= 100_000 ? ({ notation: "compact", maximumSignificantDigits: 3 } as const) : {};
  return cached(`figure ${amount >= 100_000} ${language}`, () => new Intl.NumberFormat(language, options)).format(
    amount,
  );
}

let currency = "";

/** Sets the currency code of the Host; empty if it has none, or several. */
export function setCurrency(code: string): void {
  currency = code;
}

/** Formats an amount of money, in the currency of the Host unless another one is given. */
export function formatMoney(amount: number, digits = 2, code = currency): string {
  const style = code ? ({ style: "currency", currency: code } as const) : {};
  const fixed = { minimumFractionDigits: amount === 0 ? 0 : digits, maximumFractionDigits: digits };
  return cached(
    `money ${code} ${amount === 0 ? 0 : digits} ${i18next.language}`,
    () => new Intl.NumberFormat(i18next.language, { ...style, ...fixed }),
  ).format(amount);
}

/** Formats a cost in millionths. */
export function formatCost(micros: number): string {
  if (micros > 0 && micros < 100) return `<${formatMoney(0.0001, 4)}`;
  return formatMoney(micros / 1_000_000, micros > 0 && micros < 10_000 ? 4 : 2);
}

/** Formats the price of a million tokens with all of its digits. */
export function formatPrice(amount: number, code: string): string {
  const digits = Math.min(6, String(amount).split(".")[1]?.length ?? 0);
  return formatMoney(amount, Math.max(digits, Number.isInteger(amount) ? 0 : 2), currency || code);
}

export function shortId(id: string): string {
  return id.slice(-8);
}
