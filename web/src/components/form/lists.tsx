// Lists: a choice of several options, and free entries.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { classes } from "../../lib/classes";
import { type ControlProps, TextArea } from "../Field";

export type Choice = { value: string; label: string; hint?: string };

type Props = { control: ControlProps; value: string[]; onChange: (value: string[]) => void; disabled?: boolean };

/** A list with checkboxes. A long one scrolls, unless the user has to see the `whole` of it before choosing. */
export function CheckList({
  control,
  options,
  value,
  onChange,
  disabled,
  whole,
}: Props & { options: Choice[]; whole?: boolean }) {
  const { t } = useTranslation();
  const missing = value.filter((each) => !options.some((option) => option.value === each));
  const allOptions = [...options, ...missing.map((each) => ({ value: each, label: each, hint: t("form.gone") }))];
  if (allOptions.length === 0)
    return (
      <p id={control.id} className="text-sm text-quiet">
        {t("form.nothing")}
      </p>
    );
  const toggle = (name: string, selected: boolean) =>
    onChange(selected ? [...value, name] : value.filter((each) => each !== name));
  return (
    <div
      id={control.id}
      role="group"
      className={classes(
        "divide-y divide-line rounded-control border border-line",
        !whole && "max-h-64 overflow-y-auto",
      )}
    >
      {allOptions.map((option) => (
        <label key={option.value} className="flex cursor-pointer items-start gap-2.5 px-3 py-2 hover:bg-raised">
          <input
            type="checkbox"
            className="mt-0.5 size-4 shrink-0 accent-(--accent)"
            checked={value.includes(option.value)}
            disabled={disabled}
            onChange={(event) => toggle(option.value, event.target.checked)}
          />
          <span className="min-w-0">
            <span className="block text-sm">{option.label}</span>
            {option.hint && <span className="line-clamp-2 text-xs text-quiet">{option.hint}</span>}
          </span>
        </label>
      ))}
    </div>
  );
}

const wordsOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** A list with one entry per line. Empty lines are not entries, but stay while the user types. */
export function StringList({ control, value, onChange, disabled }: Props) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  // the typed text is shown while it matches the value; otherwise the value was changed from outside
  const text = wordsOf(typed).join("\n") === value.join("\n") ? typed : value.join("\n");
  return (
    <TextArea
      {...control}
      rows={3}
      placeholder={t("form.lines")}
      value={text}
      disabled={disabled}
      onChange={(event) => {
        setTyped(event.target.value);
        onChange(wordsOf(event.target.value));
      }}
    />
  );
}
