// A button in one of four weights. A busy one shows a spinner and ignores clicks.
import type { ComponentProps } from "react";

import { classes } from "../lib/classes";

type Weight = "primary" | "plain" | "quiet" | "danger";

const WEIGHTS: Record<Weight, string> = {
  primary: "bg-accent text-accent-ink hover:opacity-90",
  plain: "border border-line bg-surface hover:bg-raised",
  quiet: "hover:bg-raised",
  danger: "border border-line bg-surface text-bad hover:bg-bad-wash",
};

export function buttonClasses(weight: Weight = "plain", small = false): string {
  return classes(
    "inline-flex items-center justify-center gap-2 rounded-control font-medium break-keep transition-colors select-none",
    "disabled:opacity-55 disabled:cursor-not-allowed",
    small ? "h-8 px-2.5 text-sm" : "h-10 px-4",
    WEIGHTS[weight],
  );
}

export function Button({
  weight = "plain",
  small = false,
  busy = false,
  className,
  disabled,
  ...rest
}: ComponentProps<"button"> & { weight?: Weight; small?: boolean; busy?: boolean }) {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      className={classes(buttonClasses(weight, small), className)}
      {...rest}
    />
  );
}

export function IconButton({ label, className, ...rest }: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={classes(
        "inline-grid size-9 shrink-0 place-items-center rounded-control text-quiet hover:bg-raised hover:text-ink",
        "disabled:opacity-40",
        className,
      )}
      {...rest}
    />
  );
}
