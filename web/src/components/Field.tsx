// A labelled control with its hint and error, connected for screen readers.
import { type ComponentProps, type ReactNode, useId } from "react";

import { classes } from "../lib/classes";

export const CONTROL =
  "rounded-control border border-edge/60 bg-surface px-3 text-ink placeholder:text-quiet/80 " +
  "disabled:bg-raised disabled:text-quiet aria-[invalid=true]:border-bad";

export type ControlProps = { id: string; "aria-describedby"?: string; "aria-invalid"?: boolean };

export function Field({
  label,
  hint,
  error,
  required,
  beside,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  required?: boolean;
  /** Places a small control, such as a switch, beside its label. */
  beside?: boolean;
  children: (control: ControlProps) => ReactNode;
}) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className="space-y-1.5">
      <div className={beside ? "flex flex-row-reverse items-center justify-end gap-3" : "space-y-1.5"}>
        <label htmlFor={id} className="block text-sm font-medium">
          {label}
          {required && (
            <span aria-hidden className="text-bad">
              {" "}
              *
            </span>
          )}
        </label>
        {children({ id, "aria-describedby": describedBy || undefined, "aria-invalid": error ? true : undefined })}
      </div>
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-quiet">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input className={classes(CONTROL, "h-10 w-full", className)} {...rest} />;
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea className={classes(CONTROL, "w-full py-2", className)} {...rest} />;
}

/** A select; with `fits` it is as wide as its text, for filters. */
export function Select({ className, fits, ...rest }: ComponentProps<"select"> & { fits?: boolean }) {
  return <select className={classes(CONTROL, "h-10", !fits && "w-full", className)} {...rest} />;
}
