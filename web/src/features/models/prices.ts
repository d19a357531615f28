// Prices as text. Without a price of input and output, the cost of a call is unknown.
import type { Model } from "../../api/types";

export const PRICES = ["input", "output", "cached_input"] as const;
export type PriceTexts = Record<(typeof PRICES)[number], string>;

export function textsOf(prices: Model["prices"]): PriceTexts {
  const text = (amount: number | null | undefined) => (amount === null || amount === undefined ? "" : String(amount));
  return { input: text(prices?.input), output: text(prices?.output), cached_input: text(prices?.cached_input) };
}

export function pricesOf(texts: PriceTexts): Model["prices"] {
  if (!texts.input && !texts.output) return null;
  return {
    input: Number(texts.input),
    output: Number(texts.output),
    cached_input: texts.cached_input ? Number(texts.cached_input) : null,
  };
}
