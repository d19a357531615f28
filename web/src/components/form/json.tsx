// A value as JSON. Invalid JSON is reported at the field and blocks the form.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { TextArea } from "../Field";
import type { ItemProps } from "./controls";

export function JsonControl({ control, value, onChange, disabled }: ItemProps) {
  const { t } = useTranslation();
  const [invalid, setInvalid] = useState(false);
  const read = (area: HTMLTextAreaElement) => {
    try {
      onChange(area.value.trim() ? JSON.parse(area.value) : undefined);
      area.setCustomValidity("");
      setInvalid(false);
    } catch {
      area.setCustomValidity(t("form.notJson"));
      setInvalid(true);
    }
  };
  return (
    <>
      <TextArea
        {...control}
        aria-invalid={invalid || control["aria-invalid"]}
        rows={4}
        spellCheck={false}
        className="font-mono text-sm"
        defaultValue={value === undefined ? "" : JSON.stringify(value, null, 2)}
        disabled={disabled}
        onChange={(event) => read(event.target)}
      />
      {invalid && <p className="text-sm text-bad">{t("form.notJson")}</p>}
    </>
  );
}
