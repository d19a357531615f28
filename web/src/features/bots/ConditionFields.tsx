// The conditions of a route, all of which must hold.
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";
import type { Fields } from "../../api/types";
import { IconButton } from "../../components/Button";
import { type ControlProps, Field, Select } from "../../components/Field";
import { CONDITION_CONTROLS } from "./conditionControls";
import { type Condition, CONDITIONS, initialValue } from "./conditions";
import { problemOf } from "./route";

type Props = {
  filters: Fields;
  problems: Record<string, string>;
  disabled: boolean;
  onChange: (filters: Fields) => void;
};

export function ConditionFields({ filters, problems, disabled, onChange }: Props) {
  const { t } = useTranslation();
  const zone = useQuery(queries.info).data?.time_zone ?? "UTC";
  const has = CONDITIONS.filter((name) => filters[name] !== undefined && filters[name] !== null);
  const available = CONDITIONS.filter((name) => !has.includes(name));
  const drop = (name: Condition) =>
    onChange(Object.fromEntries(Object.entries(filters).filter(([each]) => each !== name)));
  return (
    <fieldset className="space-y-4">
      <legend className="text-sm font-medium">{t(has.length ? "routes.when" : "routes.always")}</legend>
      {has.map((name) => {
        const Control = CONDITION_CONTROLS[name];
        return (
          <div key={name} className="flex items-start gap-1 rounded-control bg-raised/60 p-3">
            <div className="min-w-0 flex-1">
              <Field label={t(`filter.${name}`)} error={problemOf(problems, `filters.${name}`)}>
                {(control: ControlProps) => (
                  <Control
                    control={control}
                    value={filters[name]}
                    disabled={disabled}
                    onChange={(value) => onChange({ ...filters, [name]: value })}
                  />
                )}
              </Field>
            </div>
            {!disabled && (
              <IconButton label={t("routes.dropCondition", { name: t(`filter.${name}`) })} onClick={() => drop(name)}>
                <X className="size-4" />
              </IconButton>
            )}
          </div>
        );
      })}
      {!disabled && available.length > 0 && (
        <Select
          aria-label={t("routes.addCondition")}
          fits
          className="max-w-full text-sm"
          value=""
          onChange={(event) =>
            onChange({ ...filters, [event.target.value]: initialValue(event.target.value as Condition, zone) })
          }
        >
          <option value="">{t("routes.addCondition")}</option>
          {available.map((name) => (
            <option key={name} value={name}>
              {t(`filter.${name}`)}
            </option>
          ))}
        </Select>
      )}
    </fieldset>
  );
}
