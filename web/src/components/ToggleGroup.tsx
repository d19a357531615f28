// A group of small toggles.
import { classes } from "../lib/classes";
import type { ControlProps } from "./Field";
import type { Choice } from "./form/lists";

export function ToggleGroup({
  control,
  label,
  options,
  value,
  onChange,
  disabled,
}: {
  control: ControlProps;
  label?: string;
  options: Choice[];
  value: string[];
  onChange: (value: string[]) => void;
  disabled?: boolean;
}) {
  const toggle = (name: string) =>
    onChange(options.map((each) => each.value).filter((each) => value.includes(each) !== (each === name)));
  return (
    <div id={control.id} role="group" aria-label={label} className="flex flex-wrap gap-1.5">
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={value.includes(option.value)}
          disabled={disabled}
          title={option.hint}
          onClick={() => toggle(option.value)}
          className={classes(
            "rounded-full border px-3 py-1 text-sm disabled:opacity-60",
            value.includes(option.value)
              ? "border-accent bg-accent-wash font-medium text-accent"
              : "border-edge/60 bg-surface text-quiet hover:text-ink",
          )}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
