// A selection of all items of a kind, or of some by name.
import { useTranslation } from "react-i18next";

import type { Selection } from "../../api/types";
import { CheckList, type Choice } from "../../components/form/lists";
import { Switch } from "../../components/Switch";

export function SelectionField({
  id,
  label,
  options,
  value,
  disabled,
  onChange,
}: {
  id: string;
  label: string;
  options: Choice[];
  value: Selection;
  disabled: boolean;
  onChange: (value: Selection) => void;
}) {
  const { t } = useTranslation();
  return (
    <div role="group" aria-label={label} className="space-y-2">
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium">{label}</span>
        <span className="flex items-center gap-2 text-sm text-quiet">
          {t("agents.all")}
          <Switch
            label={`${label}: ${t("agents.all")}`}
            checked={value === "*"}
            disabled={disabled}
            onChange={(allowAll) => onChange(allowAll ? "*" : [])}
          />
        </span>
      </div>
      {value !== "*" && (
        <CheckList control={{ id }} options={options} value={value} disabled={disabled} onChange={onChange} />
      )}
    </div>
  );
}
