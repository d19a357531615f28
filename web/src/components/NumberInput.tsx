// A number input with a range; a value outside of it is reported at the field, in the language of the page.
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { type ControlProps, Input } from "./Field";

export type Range = { min?: number; max?: number; whole?: boolean };

type Refusal = { key: string; values: { min?: number; max?: number } };

/** Returns the message for a number outside the range, or null. */
export function rangeProblem(value: number, { min, max, whole }: Range): Refusal | null {
  const low = min !== undefined && value < min;
  const high = max !== undefined && value > max;
  if (low || high)
    return {
      key: min === undefined ? "form.atMost" : max === undefined ? "form.atLeast" : "form.between",
      values: { min, max },
    };
  if (whole && !Number.isInteger(value)) return { key: "form.whole", values: {} };
  return null;
}

type Props = Range & {
  control: ControlProps;
  value: number | string | null | undefined;
  required?: boolean;
  disabled?: boolean;
  className?: string;
  /** `value` is NaN if the input is empty; `text` is what was typed. */
  onChange: (value: number, text: string) => void;
};

export function NumberInput({ control, value, min, max, whole, required, disabled, className, onChange }: Props) {
  const { t, i18n } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
  const problem = text === "" ? null : rangeProblem(Number(text), { min, max, whole });
  const formatAmount = (amount: number | undefined) =>
    amount === undefined ? "" : new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 6 }).format(amount);
  const message = problem
    ? t(problem.key, { min: formatAmount(problem.values.min), max: formatAmount(problem.values.max) })
    : "";
  useEffect(() => input.current?.setCustomValidity(message), [message]);
  return (
    <>
      <Input
        {...control}
        ref={input}
        type="number"
        aria-invalid={message !== "" || control["aria-invalid"] || undefined}
        min={min}
        max={max}
        step={whole ? 1 : "any"}
        className={className}
        required={required}
        value={text}
        disabled={disabled}
        onChange={(event) => onChange(event.target.valueAsNumber, event.target.value)}
      />
      {message && (
        <p role="alert" className="text-sm text-bad">
          {message}
        </p>
      )}
    </>
  );
}
