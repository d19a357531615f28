// The keys of a provider. Stored ones are not shown; the next one is used when one is refused or rate limited.
import { Plus, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button, IconButton } from "../../components/Button";
import { type ControlProps, Input } from "../../components/Field";
import { SEALED } from "../../components/form/pairs";

export function KeyList({
  control,
  value,
  required,
  onChange,
}: {
  control: ControlProps;
  value: string[];
  required: boolean;
  onChange: (value: string[]) => void;
}) {
  const { t } = useTranslation();
  const rows = value.length ? value : [""];
  const replace = (index: number, key: string) =>
    onChange(rows.map((each, position) => (position === index ? key : each)));
  return (
    <div className="space-y-2">
      {rows.map((key, index) => (
        <div key={index} className="flex items-center gap-2">
          <Input
            {...(index === 0 ? control : { "aria-label": t("models.keyNumber", { number: index + 1 }) })}
            type="password"
            autoComplete="off"
            required={required && index === 0 && key !== SEALED}
            placeholder={key === SEALED ? t("form.secretKept") : undefined}
            value={key === SEALED ? "" : key}
            onChange={(event) => replace(index, event.target.value)}
          />
          {rows.length > 1 && (
            <IconButton
              label={t("common.remove")}
              onClick={() => onChange(rows.filter((_, position) => position !== index))}
            >
              <X className="size-4" />
            </IconButton>
          )}
        </div>
      ))}
      {rows.every(Boolean) && (
        <Button small onClick={() => onChange([...rows, ""])}>
          <Plus aria-hidden className="size-4" /> {t("models.addKey")}
        </Button>
      )}
    </div>
  );
}
