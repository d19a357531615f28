// The fields of a search's settings.
import { useTranslation } from "react-i18next";

import { Field, Select } from "../../components/Field";
import { NumberInput } from "../../components/NumberInput";
import { MODES, type Retrieval } from "./retrieval";

const NUMBERS = [
  ["top_k", 1, 50, true],
  ["min_score", 0, 1, false],
  ["weight", 0, 1, false],
  ["neighbours", 0, 5, true],
] as const;

export function RetrievalFields({ value, onChange }: { value: Retrieval; onChange: (value: Retrieval) => void }) {
  const { t } = useTranslation();
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("knowledge.searchBy")}>
        {(control) => (
          <Select
            {...control}
            value={value.mode}
            onChange={(event) => onChange({ ...value, mode: event.target.value as Retrieval["mode"] })}
          >
            {MODES.map((mode) => (
              <option key={mode} value={mode}>
                {t(`knowledge.mode.${mode}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {NUMBERS.map(([name, min, max, whole]) => (
        <Field key={name} label={t(`knowledge.${name}`)}>
          {(control) => (
            <NumberInput
              control={control}
              min={min}
              max={max}
              whole={whole}
              value={value[name]}
              onChange={(number) => !Number.isNaN(number) && onChange({ ...value, [name]: number })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}
