// Names with values, such as headers. A stored value is not shown, and stays if nothing is typed.
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button, IconButton } from "../Button";
import { type ControlProps, Input } from "../Field";

export const SEALED = "********";

type Props = {
  control: ControlProps;
  value: Record<string, string>;
  onChange: (value: Record<string, string>) => void;
  example?: string;
  disabled?: boolean;
};

export function Pairs({ control, value, onChange, example, disabled }: Props) {
  const { t } = useTranslation();
  const [rows, setRows] = useState<[string, string][]>(() => Object.entries(value));
  const update = (next: [string, string][]) => {
    setRows(next);
    onChange(Object.fromEntries(next.map(([name, text]) => [name.trim(), text] as const).filter(([name]) => name)));
  };
  const change = (index: number, row: [string, string]) =>
    update(rows.map((each, position) => (position === index ? row : each)));
  return (
    <div id={control.id} role="group" aria-describedby={control["aria-describedby"]} className="space-y-2">
      {rows.map(([name, text], index) => (
        <div key={index} className="flex items-center gap-2">
          <Input
            aria-label={t("form.pairName")}
            className="font-mono text-sm"
            placeholder={example}
            value={name}
            disabled={disabled}
            onChange={(event) => change(index, [event.target.value, text])}
          />
          <Input
            aria-label={t("form.pairValue", { name })}
            type="password"
            autoComplete="off"
            className="text-sm"
            placeholder={text === SEALED ? t("form.secretKept") : t("form.pairValue", { name: "" })}
            value={text === SEALED ? "" : text}
            disabled={disabled}
            onChange={(event) => change(index, [name, event.target.value])}
          />
          <IconButton
            label={t("common.remove")}
            disabled={disabled}
            onClick={() => update(rows.filter((_, position) => position !== index))}
          >
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
      {!disabled && (
        <Button small onClick={() => setRows([...rows, ["", ""]])}>
          <Plus aria-hidden className="size-4" /> {t("form.addPair")}
        </Button>
      )}
    </div>
  );
}
